// What a policy proposes, as the whole truth. What the caller cannot list may exist all the same, so it is neither created nor
// removed.
import { isRoot, parentOf, printable } from "../../schema/index.ts";
import {
  type AccessGraph,
  type GraphBuilder,
  type IdentityNode,
  lineageOf,
  type NodeId,
  newGraph,
  organizationsIn,
  type RoleNode,
} from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { visibilityIn } from "../graph/visible.ts";
import { isNamedOnly, keepPeople } from "../policy/people-graph.ts";
import type { Proposal } from "./proposal.ts";
import type { Unknown } from "./report.ts";

/**
 * `wanted` is the policy as a graph. `isRemoved` says what goes of what the policy does not declare; without it, the policy is the whole
 * truth of its organization.
 */
export const proposalFromPolicy = (
  wanted: AccessGraph,
  { graph: live, notVisible }: Live,
  isRemoved?: (id: NodeId) => boolean,
): Proposal => {
  const isVisible = visibilityIn(live, notVisible);
  const after = newGraph(wanted);
  const isHiddenGroup = (graph: AccessGraph, id: NodeId): boolean =>
    lineageOf(graph, id).some((one) => {
      const parent = graph.groups.get(one)?.parent ?? (isRoot(one) ? null : parentOf(one));
      return parent !== null && !isVisible("group", existing(graph, parent));
    });
  const isHidden = (graph: AccessGraph, kind: "identity" | "role", id: NodeId): boolean => {
    const group = (kind === "identity" ? graph.identities : graph.roles).get(id)?.group;
    return group != null && (isHiddenGroup(graph, group) || !isVisible(kind, existing(graph, group)));
  };
  for (const { id } of wanted.identities.values())
    if (!live.identities.has(id) && isHidden(wanted, "identity", id)) after.identities.delete(id);
  // Bindings name them, and do not show what a role grants or who can assume an identity: this stays as it is, not known.
  for (const [id, { relationship }] of live.identities)
    if (wanted.identities.has(id) && isHidden(live, "identity", id))
      after.identities.set(id, { ...(wanted.identities.get(id) as IdentityNode), relationship });
  for (const [id, { capabilities }] of live.roles)
    if (wanted.roles.has(id) && isHidden(live, "role", id))
      after.roles.set(id, { ...(wanted.roles.get(id) as RoleNode), capabilities });
  for (const { id, group, identity, role } of wanted.bindings.values()) {
    if (live.bindings.has(id)) continue;
    const isHiddenRole = !live.roles.has(role) && isHidden(wanted, "role", role);
    const isSeen = isVisible("roleBinding", existing(wanted, group)) && !isHiddenGroup(wanted, group) && !isHiddenRole;
    if (!isSeen || !after.identities.has(identity)) after.bindings.delete(id);
  }
  // Nothing in the policy can name it: it is known by its uid alone, or so are the groups that it is in.
  const isOutOfReach = (id: NodeId): boolean => live.identities.get(id)?.name === id || isHidden(live, "identity", id);
  for (const id of live.groups.keys())
    if (!after.groups.has(id) && !isRoot(id) && isHiddenGroup(live, id)) keepGroup(after, live, id);
  for (const { id, identity } of live.bindings.values())
    if (!after.bindings.has(id) && !wanted.identities.has(identity) && isOutOfReach(identity)) keep(after, live, id);
  const undeclared = isRemoved ? keepUndeclared(after, live, isRemoved) : [];
  keepPeople(after, live, (group) => after.groups.has(group) && !wanted.groups.has(group));
  return {
    source: "policy",
    before: live,
    after,
    replaced: new Map(),
    restored: [],
    adopted: [],
    forced: [],
    deleted: new Set(),
    undeclared,
    unknown: [...newOrganizations(wanted, live), ...missingProviders(wanted, live, notVisible)],
  };
};

/** A misspelt name looks like a new organization: the organization that is meant would seem to lose nothing. */
const newOrganizations = (wanted: AccessGraph, live: AccessGraph): Unknown[] => {
  const names = organizationsIn(live).map(({ name }) => name);
  return organizationsIn(wanted)
    .filter(({ uid }) => uid === null)
    .map(({ name }) => ({
      subject: name,
      message: `the API shows no organization ${name}, so this review takes all of the policy for new, and nothing for removed; it shows ${names.join(", ") || "none"}`,
    }));
};

/** Their people count as new, since their issuer is not known. */
const missingProviders = ({ providers }: AccessGraph, live: AccessGraph, notVisible: Live["notVisible"]): Unknown[] => {
  const names = [...live.providers.values()].map(({ name }) => name);
  const isHidden = notVisible.some(({ kind }) => kind === "identityProvider");
  return [...providers.values()].filter(isNamedOnly).map(({ name }) => {
    const shown = isHidden
      ? "you cannot list all of them"
      : `it shows ${[...new Set(names)].sort().join(", ") || "none"}`;
    return {
      subject: name,
      message: `the API shows no identity provider ${printable(name)} in the organization, so this review takes its people for new; ${shown}`,
    };
  });
};

/** The nearest group, itself or above, that is there now. */
const existing = (graph: AccessGraph, group: NodeId): NodeId =>
  lineageOf(graph, group).find((id) => graph.groups.get(id)?.uid !== null) ?? group;

/** Adds what stays although the policy does not declare it. Returns the bindings among it. */
const keepUndeclared = (after: GraphBuilder, live: AccessGraph, isRemoved: (id: NodeId) => boolean): NodeId[] => {
  const keepAll = <N extends { id: NodeId }>(
    nodes: ReadonlyMap<NodeId, N>,
    into: Map<NodeId, N>,
    canStay: (node: N) => boolean,
  ): NodeId[] => {
    const kept = [...nodes.values()].filter((node) => !into.has(node.id) && !isRemoved(node.id) && canStay(node));
    for (const node of kept) into.set(node.id, node);
    return kept.map(({ id }) => id);
  };
  // A group goes with all that is in it: those above come first.
  const groups = new Map([...live.groups].sort(([a], [b]) => a.length - b.length));
  for (const [id, node] of groups)
    if (!after.groups.has(id) && !isRemoved(id) && (node.parent === null || after.groups.has(node.parent)))
      after.groups.set(id, node);
  keepAll(live.identities, after.identities, ({ group }) => after.groups.has(group));
  keepAll(live.roles, after.roles, ({ group }) => group === null || after.groups.has(group));
  keepAll(
    live.externalGroups,
    after.externalGroups,
    ({ provider, role }) => after.providers.has(provider) && after.roles.has(role),
  );
  return keepAll(
    live.bindings,
    after.bindings,
    ({ group, identity, role }) => after.groups.has(group) && after.identities.has(identity) && after.roles.has(role),
  );
};

const keepGroup = (after: GraphBuilder, live: AccessGraph, group: NodeId): void => {
  for (const id of lineageOf(live, group)) {
    const node = live.groups.get(id);
    if (node && !after.groups.has(id)) after.groups.set(id, node);
  }
  for (const one of live.bindings.values()) if (one.group === group) keep(after, live, one.id);
  for (const one of live.identities.values()) if (one.group === group) after.identities.set(one.id, one);
};

const keep = (after: GraphBuilder, live: AccessGraph, binding: NodeId): void => {
  const one = live.bindings.get(binding);
  if (!one) return;
  after.bindings.set(binding, one);
  const [identity, role] = [live.identities.get(one.identity), live.roles.get(one.role)];
  if (identity) after.identities.set(identity.id, identity);
  if (role) after.roles.set(role.id, role);
};
