// A small organization that tests change by hand: groups dev, dev/team; roles viewer (built in), maker in team; identity ci.
import { newGraph } from "../../access/graph/graph.ts";
import type { Live } from "../../access/graph/live.ts";
import { addGroup, addIdentity, ROOT, uidIn } from "./graphs.ts";

export const NOW_MS = Date.parse("2026-11-22T00:00:00Z");

export const TEAM = uidIn(ROOT, 1);
export const CI = uidIn(ROOT, 2);
export const VIEWER = "1".repeat(40);
export const MAKER = uidIn(TEAM, 3);
export const ISSUER = "https://ci.example.com";

export const urnOf = (type: string, name: string): string =>
  `urn:pulumi:dev::access::pulumi-nodejs:dynamic/irm:${type}::${name}`;

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
