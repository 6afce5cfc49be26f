// Two organizations that tests of paths write by hand: `acme` trusts identities of `partner`.
import type { AccessGraph, GraphBuilder, NodeId } from "../../../access/graph/graph.ts";
import type { NotVisible } from "../../../access/graph/live.ts";
import { findPaths } from "../../../access/paths/find.ts";
import type { Path, PathOptions, PathQuery } from "../../../access/paths/path.ts";
import { OWNER_CAPABILITIES } from "../../../schema/index.ts";
import { addRole, bind, graphOf, roleUid, uid } from "../graphs.ts";

export const ACME = "a".repeat(40);
export const PARTNER = "b".repeat(40);
export const REGISTRY = uid("registry", ACME);
export const CI = uid("ci", PARTNER);
export const OWNER = roleUid("owner");
/** of the helper of the partner, and of an identity that acme trusts */
export const HELPER = uid("helper", PARTNER);
export const MIRROR = uid("ci/mirror", PARTNER);
export const ISSUER = "https://issuer.example";

/** The mirror of the partner pushes into the registry of acme. Roles of the helper: `grant`. */
export const partners = (): GraphBuilder => {
  const roles = { owner: OWNER_CAPABILITIES, pusher: ["tag.create"] };
  const [helper, mirror] = ["helper", "mirror"].map((subject) => ({ issuer: ISSUER, subject }));
  const identities = { helper, "ci/mirror": mirror } as Record<string, { issuer: string; subject: string }>;
  const graph = graphOf({ name: "acme", root: ACME, groups: ["registry"], roles });
  graphOf({ name: "partner", root: PARTNER, groups: ["ci"], identities }, graph);
  bind(graph, REGISTRY, MIRROR, roleUid("pusher"));
  return graph;
};

export const grant = (graph: GraphBuilder, identity: NodeId, group: NodeId, ...capabilities: string[]) => {
  const id = addRole(graph, `role-${graph.roles.size}`, capabilities, group);
  bind(graph, group, identity, id);
  return { role: id, binding: `${group}/b ${identity} ${id}` };
};

export const pathsIn = (
  graph: AccessGraph,
  query: PathQuery = { from: { identity: HELPER } },
  options: Partial<PathOptions> = {},
): Path[] => search(graph, query, options).paths;

export const search = (graph: AccessGraph, query: PathQuery, options: Partial<PathOptions> = {}) =>
  findPaths(graph, query, { notVisible: [], audience: "https://irm.example", nowMs: 0, ...options });

export const hidden = (kind: NotVisible["kind"], group: NodeId): NotVisible => ({ kind, group, message: "hidden" });

/** `strict: PATCH /iam/…, GET /sts/…` without uids, for a test to read. */
export const shape = ({ assumes, steps }: Path): string =>
  `${assumes}: ${steps.map(({ method, path }) => `${method} ${path.replace(/^\/iam\/v2beta1|\?.*|\/[0-9a-f]{40}.*/g, "")}`).join(", ")}`;
