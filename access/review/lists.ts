// The lists of a report that no rule decides: deletions, what they take along, undeclared access, keys that end.
import type { CapabilityClass, Json } from "../../schema/index.ts";
import { type AccessGraph, type NodeId, pathOf } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { bindingsOf, contentsOf, externalGroupsOf } from "./contents.ts";
import { type Capabilities, capabilitiesIn, worstClassOf, worstFirst } from "./danger.ts";
import type { Proposal } from "./proposal.ts";
import type { DeletedGroup, ExpiringKey, Report, Undeclared } from "./report.ts";
import { groupNameOf, nameOf, type RuleInput } from "./rule.ts";

/** What the caller may not list, by path. */
export const notVisibleRows = (
  graph: AccessGraph,
  notVisible: readonly Live["notVisible"][number][],
): Report["notVisible"] =>
  worstFirst(
    notVisible.map(({ kind, group, message }) => ({ kind, group, groupName: pathOf(graph, group), message })),
    ({ groupName: place, kind }) => ({ place, texts: [kind] }),
  );

export const deletedGroupsOf = ({ before, after }: RuleInput): DeletedGroup[] =>
  worstFirst(
    [...before.groups.values()]
      .filter(({ id, parent }) => !after.groups.has(id) && (parent === null || after.groups.has(parent)))
      .map(({ id }) => ({ group: id, groupName: pathOf(before, id), contents: contentsOf(before, id) })),
    ({ groupName: place, group }) => ({ place, texts: [group] }),
  );

export const forcedRows = ({ forced, before, deleted }: Proposal): Report["forceDestroy"] =>
  worstFirst(
    forced.map(({ node, held = [], ...one }) => {
      const listed = before.groups.has(node)
        ? contentsOf(before, node)
        : [...bindingsOf(before, node), ...externalGroupsOf(before, node)];
      const name = nameIn(before, node);
      const contents = [...listed, ...held.map(({ kind, uid, name: its }) => ({ kind, uid, name: its }))];
      const unmanaged = contents.filter(({ uid }) => uid === null || !deleted.has(uid));
      return { ...one, name: name === node ? one.resource : name, contents: one.deletes ? unmanaged : [] };
    }),
    ({ deletes, resource, uid }) => ({ standing: deletes ? "open" : undefined, texts: [resource, uid] }),
  );

export const undeclaredRows = ({ undeclared, before }: Pick<Proposal, "undeclared" | "before">): Undeclared[] =>
  worstFirst(
    undeclared.flatMap((id) => {
      const binding = before.bindings.get(id);
      if (!binding) return [];
      const { identity, role, group } = binding;
      return [
        {
          binding: id,
          group,
          groupName: pathOf(before, group),
          identity,
          identityName: nameOf(before.identities, identity),
          role: nameOf(before.roles, role),
        },
      ];
    }),
    ({ binding, groupName: place, identityName, role }) => ({
      capabilities: capabilitiesIn(before.roles, before.bindings.get(binding)?.role),
      place,
      texts: [identityName, role, binding],
    }),
  );

export const nameIn = ({ groups, identities, roles, providers }: AccessGraph, id: NodeId): string =>
  (groups.get(id) ?? identities.get(id) ?? roles.get(id) ?? providers.get(id))?.name ?? id;

const SOON_MS = 30 * 24 * 60 * 60 * 1000;

export const expiringKeysOf = (after: AccessGraph, nowMs: number): ExpiringKey[] => {
  const keys = [...after.identities.values()].flatMap(({ id, uid, name, group, relationship }) => {
    const { expirationTime } = ((relationship as Json | null)?.staticKeys ?? {}) as { expirationTime?: string };
    if (!expirationTime || !(Date.parse(expirationTime) <= nowMs + SOON_MS)) return [];
    return [{ id, key: { uid, name, groupName: groupNameOf(after, group), expirationTime } }];
  });
  const held = capabilitiesHeldIn(after);
  return worstFirst(keys, ({ id, key: { groupName: place, expirationTime, name, uid } }) => ({
    capabilities: held(id),
    place,
    texts: [expirationTime, name, uid],
  })).map(({ key }) => key);
};

/** The class of the worst that an identity holds, for a review of who can act by it. */
export const effectsIn = (graph: AccessGraph): ((identity: NodeId | undefined) => { effect?: CapabilityClass }) => {
  const held = capabilitiesHeldIn(graph);
  return (identity) => {
    const effect = identity === undefined ? null : worstClassOf(held(identity));
    return effect === null ? {} : { effect };
  };
};

/** What an identity holds by all of its role bindings. */
export const capabilitiesHeldIn = ({ bindings, roles }: AccessGraph): ((identity: NodeId) => Capabilities) => {
  const byIdentity = Map.groupBy(bindings.values(), ({ identity }) => identity);
  return (identity) => {
    const held = (byIdentity.get(identity) ?? []).map(({ role }) => capabilitiesIn(roles, role));
    return held.includes("unknown") ? "unknown" : new Set(held.flatMap((one) => [...one]));
  };
};
