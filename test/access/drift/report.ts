// Reports of drift of previews that tests write by hand.
import { type DriftInput, driftOf } from "../../../access/drift/index.ts";
import type { DriftReport } from "../../../access/drift/report.ts";
import type { Live } from "../../../access/graph/live.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import type { Json } from "../../../schema/index.ts";
import { ROOT } from "../graphs.ts";
import { changed, NOW_MS } from "../preview/fixture.ts";
import { liveWith, TEAM } from "../preview/team.ts";

export const TEAM_INPUTS = { name: "team", parent: ROOT, __service: "https://irm.example.com" };

/** The program has the group of the team, and it is as the program has it. */
export const sameTeam = () => changed("same", "Group", "team", TEAM, { old: TEAM_INPUTS, new: TEAM_INPUTS });

/** With the refresh of each record that exists, and the counts that the engine prints. */
export const report = (steps: Json[], live: Live = liveWith(), own: Partial<DriftInput> = {}): DriftReport => {
  const preview = parsePreview(JSON.stringify({ steps, changeSummary: {} }), "a test");
  const rest = {
    services: [],
    entries: [],
    exported: undefined,
    callers: new Set<string>(),
    allowed: new Set<string>(),
  };
  return driftOf({ preview, live, ...rest, nowMs: NOW_MS, ...own });
};

export const refresh = (type: string, name: string, id: string, old: Json) =>
  changed("refresh", type, name, id, { old });
