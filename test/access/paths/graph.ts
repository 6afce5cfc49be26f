// Two organizations that tests of paths write by hand: `acme` trusts identities of `partner`.
import { type AccessGraph, type GraphBuilder, type NodeId, newGraph } from "../../../access/graph/graph.ts";
import type { NotVisible } from "../../../access/graph/live.ts";
import { findPaths } from "../../../access/paths/find.ts";
import type { Path, PathOptions, PathQuery } from "../../../access/paths/path.ts";
import { OWNER_CAPABILITIES } from "../../../schema/index.ts";
import { addGroup, addIdentity, addRole, bind, uidIn } from "../graphs.ts";

export const ACME = "a".repeat(40);
export const PARTNER = "b".repeat(40);
export const REGISTRY = uidIn(ACME, 1);
export const CI = uidIn(PARTNER, 1);
export const OWNER = "0".repeat(40);
export const PUSHER = "1".repeat(40);
/** of the helper of the partner, and of an identity that acme trusts */
export const HELPER = uidIn(PARTNER, 17);
export const MIRROR = uidIn(CI, 18);
export const ISSUER = "https://issuer.example";

/** The mirror of the partner pushes into the registry of acme. Roles of the helper: `grant`. */
export const partners = (): GraphBuilder => {
  const graph = newGraph();
  addGroup(graph, ACME, "acme", null);
  addGroup(graph, REGISTRY, "registry", ACME);
  addGroup(graph, PARTNER, "partner", null);
  addGroup(graph, CI, "ci", PARTNER);
  graph.roles.set(OWNER, role(OWNER, "owner", OWNER_CAPABILITIES));
  graph.roles.set(PUSHER, role(PUSHER, "pusher", ["tag.create"]));
  addIdentity(graph, HELPER, "helper", PARTNER, { issuer: ISSUER, subject: "helper" });
  addIdentity(graph, MIRROR, "mirror", CI, { issuer: ISSUER, subject: "mirror" });
  bind(graph, REGISTRY, MIRROR, PUSHER);
  return graph;
};

const role = (id: NodeId, name: string, capabilities: readonly string[]) => ({
  ...{ id, uid: id, name, group: null },
  capabilities: capabilities.toSorted(),
});

/** Gives the identity a role of its own at the group, with these capabilities. */
export const grant = (
  graph: GraphBuilder,
  identity: NodeId,
  group: NodeId,
  ...capabilities: string[]
): { role: NodeId; binding: NodeId } => {
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
