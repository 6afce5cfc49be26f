// A small organization that previews which are written by hand change, and the rows of their reviews.
import { newGraph } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import type { Report } from "../../../access/review/report.ts";
import { addGroup, addIdentity, ROOT, uidIn } from "../graphs.ts";
import { reviewFrom } from "./fixture.ts";

/** `release + platform/registry tag.create publisher` */
export const rowsOf = ({ identities }: Report): string[] =>
  identities.flatMap(({ name, gains, losses }) =>
    Object.entries({ "+": gains, "-": losses }).flatMap(([sign, rows]) =>
      rows.map(({ group, groupName, capability, role }) =>
        [name, sign, group === null ? `(new) ${groupName}` : groupName, capability, role].join(" "),
      ),
    ),
  );

export const reportOf = (preview: unknown, live: Live): Report => reviewFrom(preview, live).report;

// Groups dev, dev/team; roles viewer (built in), maker in team; identity ci.
export const TEAM = uidIn(ROOT, 1);
export const CI = uidIn(ROOT, 2);
export const VIEWER = "1".repeat(40);
export const MAKER = uidIn(TEAM, 3);
export const ISSUER = "https://ci.example.com";

export const liveWith = (...bindings: [group: string, identity: string, role: string][]): Live => {
  const graph = newGraph();
  addGroup(graph, ROOT, "dev", null);
  addGroup(graph, TEAM, "team", ROOT);
  addIdentity(graph, CI, "ci", ROOT, { issuer: ISSUER, subject: "ci" });
  graph.roles.set(VIEWER, { id: VIEWER, uid: VIEWER, name: "viewer", group: null, capabilities: ["groups.list"] });
  graph.roles.set(MAKER, { id: MAKER, uid: MAKER, name: "maker", group: TEAM, capabilities: ["repo.create"] });
  for (const [i, [group, identity, role]] of bindings.entries()) {
    const uid = uidIn(group, 100 + i);
    graph.bindings.set(uid, { id: uid, uid, group, identity, role });
  }
  return { graph, notVisible: [] };
};
export const bindingUid = (group: string, i: number) => uidIn(group, 100 + i);
export const named = (uid: string, name: string) => ({ uid, name });
