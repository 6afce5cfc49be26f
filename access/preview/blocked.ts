// Deletions that the API refuses: of a group that holds something (docs/contract.md#d7), and of a role that is bound. And one that the
// provider refuses: of an identity provider with mappings (provider/reconcile/delete.ts). The run fails there, so what would go with such a
// record stays.
import { serviceIn } from "../../client/preview-marks.ts";
import { isAncestorOrSelf, parentOf } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { ListedKind } from "../graph/live.ts";
import type { HeldRecords } from "../graph/live-contents.ts";
import { type Content, contentsOf, externalGroupsOf } from "../review/contents.ts";
import type { BlockedRecord } from "../review/proposal.ts";
import { nameOf } from "../review/rule/rule.ts";
import type { Resource, Stored } from "./resource.ts";
import { isOrMayBe } from "./value.ts";
import type { Work } from "./work.ts";

/** The groups whose deletion the run asks for; without those that it empties first. */
export const groupsToDelete = (
  resources: Iterable<Resource>,
): { uid: string; service: string | undefined; resource: string; isForced: boolean }[] =>
  deletionsOf(resources, "group").map(({ stored, uid, resource }) => ({
    uid,
    service: serviceOf(stored),
    resource,
    isForced: isForced(stored),
  }));

/** The records of a kind that the run deletes. */
const deletionsOf = (resources: Iterable<Resource>, kind: Resource["kind"]) =>
  [...resources]
    .filter((one) => one.kind === kind)
    .flatMap(({ deleted, logicalName: resource }) =>
      deleted.filter(({ stays }) => !stays).map((stored) => ({ stored, uid: stored.uid, resource })),
    );

const serviceOf = ({ inputs, outputs }: Stored): string | undefined => serviceIn(outputs) ?? serviceIn(inputs);

export const isForced = ({ inputs, outputs }: Stored): boolean =>
  isOrMayBe(inputs.forceDestroy) || isOrMayBe(outputs.forceDestroy);

export interface BlockedContext {
  held: HeldRecords;
  /** `KIND UID` of the records of other kinds that the run deletes */
  deletedElsewhere: ReadonlySet<string>;
}

/** Puts what is blocked back into the graph. After all else is applied: what the run removes or moves blocks nothing. */
export const restoreBlocked = (
  work: Work,
  resources: readonly Resource[],
  { held, deletedElsewhere }: BlockedContext,
): BlockedRecord[] => {
  const { before, after, isVisible } = work;
  const blockedRoles = deletionsOf(resources, "role").flatMap(({ uid, resource }): BlockedRecord[] => {
    const contents = usersOf(after, uid);
    const role = before.roles.get(uid);
    if (contents.length > 0 && role) after.roles.set(uid, role);
    const group = parentOf(uid);
    // A role is granted in its group and below, where a caller sees no less.
    const unseen = USES.flatMap(([kind, words]) => (isVisible(kind, group) ? [] : [words]));
    if (contents.length === 0 && unseen.length === 0) return [];
    return [{ kind: "role", uid, name: role?.name ?? uid, group, resource, contents, unseen }];
  });
  const providers = deletionsOf(resources, "identityProvider").filter(({ stored }) => !isForced(stored));
  const blockedProviders = providers.flatMap(({ uid, resource }): BlockedRecord[] => {
    const contents = externalGroupsOf(after, uid);
    const provider = before.providers.get(uid);
    if (contents.length > 0 && provider) after.providers.set(uid, provider);
    const group = parentOf(uid);
    // They are listed with the right to list their identity provider.
    const isListed = (["identityProvider", "externalGroupRoleMapping"] as const).every((kind) =>
      isVisible(kind, group),
    );
    const unseen = isListed ? [] : ["external groups"];
    if (contents.length === 0 && unseen.length === 0) return [];
    const name = provider?.name ?? uid;
    return [{ kind: "identity provider", uid, name, group, resource, contents, unseen }];
  });
  const groups = groupsToDelete(resources).toSorted((a, b) => b.uid.length - a.uid.length);
  const blockedGroups = groups.flatMap(({ uid, resource, isForced }): BlockedRecord[] => {
    if (isForced) return [];
    const isIn = (group: NodeId): boolean => isAncestorOrSelf(uid, group);
    // Without its node, `contentsOf` finds nothing below it.
    const node = before.groups.get(uid);
    if (node) after.groups.set(uid, node);
    const listed = contentsOf(after, uid);
    const isListed = new Set(listed.map((one) => one.uid));
    const stays = [
      ...withoutCreator(after, uid, listed),
      ...[...after.providers.values(), ...after.invites.values()].flatMap(({ id, name, group }) =>
        isIn(group) && !isListed.has(id)
          ? [{ kind: after.providers.has(id) ? "identity provider" : "group invite", uid: id, name }]
          : [],
      ),
      ...held.records.filter(({ group }) => isIn(group)),
    ];
    const contents = stays
      .filter((one) => !deletedElsewhere.has(`${one.kind} ${one.uid}`))
      .map(({ kind, uid: id, name }): Content => ({ kind, uid: id, name }));
    const unseen = [
      ...KINDS.filter(([kind]) => !isVisible(kind, uid)).map(([, words]) => words),
      ...(held.unseen.get(uid) ?? []),
    ];
    if (contents.length === 0) after.groups.delete(uid);
    if (contents.length === 0 && unseen.length === 0) return [];
    return [{ kind: "group", uid, name: node?.name ?? uid, group: uid, resource, contents, unseen }];
  });
  return [...blockedRoles, ...blockedProviders, ...blockedGroups];
};

const KINDS: readonly (readonly [ListedKind, string])[] = [
  ["group", "groups"],
  ["identity", "identities"],
  ["role", "roles"],
  ["roleBinding", "role bindings"],
  ["identityProvider", "identity providers"],
  ["groupInvite", "group invites"],
];

/** What grants a role. */
const USES: readonly (readonly [ListedKind, string])[] = [
  ["roleBinding", "role bindings"],
  ["identityProvider", "identity providers"],
  ["externalGroupRoleMapping", "external groups"],
];

/** The binding that made the creator owner of an organization goes with it. Which one it is, the API does not say. */
const withoutCreator = (graph: AccessGraph, group: NodeId, contents: readonly Content[]): readonly Content[] => {
  const [only, ...others] = contents;
  const binding = graph.bindings.get(only?.uid ?? "");
  const isOwner = binding?.group === group && graph.roles.get(binding.role)?.name === "owner";
  return others.length === 0 && isOwner && !group.includes("/") ? [] : contents;
};

/** What grants a role: it holds the role. */
const usersOf = (graph: AccessGraph, role: NodeId): Content[] => {
  const bindings = [...graph.bindings.values()]
    .filter((one) => one.role === role && one.uid !== null)
    .map(({ uid, identity, group }) => ({
      kind: "role binding",
      uid,
      name: `${nameOf(graph.identities, identity)} at ${nameOf(graph.groups, group)}`,
    }));
  const providers = [...graph.providers.values()]
    .filter(({ defaultRole }) => defaultRole === role)
    .map(({ uid, name }) => ({ kind: "identity provider", uid, name }));
  const externalGroups = [...graph.externalGroups.values()]
    .filter((one) => one.role === role)
    .map(({ uid, externalGroupId }) => ({ kind: "external group", uid, name: externalGroupId }));
  return [...bindings, ...providers, ...externalGroups];
};
