// A small organization whose records a preview deletes, and what its review says is in the way.
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import type { HeldRecords } from "../../../access/graph/live-contents.ts";
import { planFrom } from "../../../access/preview/plan.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Report, Review } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addIdentity, uidIn } from "../graphs.ts";
import { changed, NOW_MS } from "./fixture.ts";
import { CI, liveWith, TEAM, VIEWER } from "./team.ts";

export const CHILD = uidIn(TEAM, 20);
export const BOT = uidIn(CHILD, 21);

export const live = (): Live => {
  const own = liveWith([TEAM, CI, VIEWER]);
  const graph = own.graph as GraphBuilder;
  addGroup(graph, CHILD, "child", TEAM);
  addIdentity(graph, BOT, "bot", CHILD, { issuer: "https://ci.example.com", subject: "bot" });
  return own;
};

export const deleteStep = (type: string, name: string, uid: string, outputs: Json = {}): Json =>
  changed("delete", type, name, uid, { outputs });

export const reviewFrom = (steps: Json[], own = live(), held?: HeldRecords): Review => {
  const proposal = planFrom(parsePreview(JSON.stringify({ steps }), "a test"), own, held);
  return reviewOf(proposal, { notVisible: own.notVisible, nowMs: NOW_MS, deny: [], allow: [] });
};
export const reportOf = (...given: Parameters<typeof reviewFrom>): Report => reviewFrom(...given).report;

export const namesOf = ({ blocked }: Report) =>
  blocked.map(({ subject, certain, contents }) => [
    subject,
    certain,
    contents.map(({ kind, name }) => `${kind} ${name}`),
  ]);
