// A small organization that tests change by hand: groups dev, dev/team; roles viewer (built in), maker in team; identity ci.
import type { Live } from "../../access/graph/live.ts";
import { graphOf, roleUid, uid, uidIn } from "./graphs.ts";

export const NOW_MS = Date.parse("2026-11-22T00:00:00Z");

export const [TEAM, CI, MAKER] = [uid("team"), uid("ci"), uid("team/maker")];
export const VIEWER = roleUid("viewer");
export const ISSUER = "https://ci.example.com";

export const urnOf = (type: string, name: string): string =>
  `urn:pulumi:dev::access::pulumi-nodejs:dynamic/irm:${type}::${name}`;

export const bindingUid = (group: string, i: number) => uidIn(group, 100 + i);

export const liveWith = (...bindings: [group: string, identity: string, role: string][]): Live => {
  const roles = { viewer: ["groups.list"], "team/maker": ["repo.create"] };
  const graph = graphOf({
    name: "dev",
    groups: ["team"],
    roles,
    identities: { ci: { issuer: ISSUER, subject: "ci" } },
  });
  for (const [i, [group, identity, role]] of bindings.entries()) {
    const id = bindingUid(group, i);
    graph.bindings.set(id, { id, uid: id, group, identity, role });
  }
  return { graph, notVisible: [] };
};
