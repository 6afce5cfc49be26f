// The lists of a report that no rule decides: deletions, what they take along, undeclared access, keys that end.
import type { Json } from "../../schema/index.ts";
import { capabilitiesIn, worstFirst } from "../graph/danger.ts";
import { capabilitiesHeldIn } from "../graph/effective-access.ts";
import { type AccessGraph, groupNameOf, type NodeId, nameOf, pathOf } from "../graph/graph.ts";
import { bindingsOf, contentsOf, externalGroupsOf } from "./contents.ts";
import type { Proposal } from "./proposal.ts";
import type { DeletedGroup, ExpiringKey, Report, Undeclared } from "./report.ts";
import type { RuleInput } from "./rule.ts";

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
