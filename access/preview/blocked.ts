// Deletions that the API refuses: of a group that holds something (docs/contract.md#d7), and of a role that is bound. And those that the
// provider refuses: of an identity with role bindings and of an identity provider with mappings (provider/reconcile/delete.ts), and of what
// forceDestroy may not take along. The run fails there, so what would go with such a record stays.
import { FORCE_DESTROY_MAX, isAncestorOrSelf, isRoot, parentOf } from "../../schema/index.ts";
import { type AccessGraph, type GraphBuilder, type NodeId, newGraph } from "../graph/graph.ts";
import type { ListedKind } from "../graph/live.ts";
import type { HeldRecords } from "../graph/live-contents.ts";
import { bindingsOf, type Content, contentsOf, externalGroupsOf } from "../review/contents.ts";
import { type BlockedRecord, isCertain } from "../review/proposal.ts";
import { nameOf } from "../review/rule/rule.ts";
import { removeRecord } from "./remove-record.ts";
import type { Resource, Stored } from "./resource.ts";
import { managedBindings } from "./set.ts";
import { isOrMayBe } from "./value.ts";
import type { Work } from "./work.ts";

/** The groups whose deletion the run asks for; without those that it empties first. */
export const groupsToDelete = (resources: Iterable<Resource>): { uid: string; resource: string; stored: Stored }[] =>
  deletionsOf(resources, "group");

/** The records of a kind that the run deletes. */
const deletionsOf = (resources: Iterable<Resource>, kind: Resource["kind"]) =>
  [...resources]
    .filter((one) => one.kind === kind)
    .flatMap(({ deleted, logicalName: resource }) =>
      deleted.filter(({ stays }) => !stays).map((stored) => ({ stored, uid: stored.uid, resource })),
    );

export const isForced = ({ inputs, outputs }: Stored): boolean =>
  isOrMayBe(inputs.forceDestroy) || isOrMayBe(outputs.forceDestroy);

export interface BlockedContext {
  held: HeldRecords;
  /** `KIND UID` of the records of other kinds that the run deletes */
  deletedElsewhere: ReadonlySet<string>;
}

/**
 * `after` with what is blocked put back, and without what a forced group takes along. After all else is applied: what the run removes
 * or moves blocks nothing.
 */
export const restoreBlocked = (
  work: Work,
  resources: readonly Resource[],
  context: BlockedContext,
): { blocked: BlockedRecord[]; after: GraphBuilder } => {
  // A forced group that is blocked takes nothing along: what that keeps in place may block further groups.
  let emptied = groupsToDelete(resources).flatMap(({ uid, stored }) => (isForced(stored) ? [uid] : []));
  for (;;) {
    const after = newGraph(work.after);
    const blocked = blockedWhere(emptied, { ...work, after }, resources, context);
    const failing = new Set(blocked.filter(isCertain).map(({ uid }) => uid));
    const left = emptied.filter((uid) => !failing.has(uid));
    if (left.length === emptied.length) return { blocked, after };
    emptied = left;
  }
};

/** `emptied`: the groups that go with all that is in them. */
const blockedWhere = (
  emptied: readonly NodeId[],
  work: Work,
  resources: readonly Resource[],
  context: BlockedContext,
): BlockedRecord[] => {
  const listed = withNames(work);
  const kept = new Set(resources.flatMap(keptBy));
  const records = [
    ...blockedIdentities(work, resources, listed, kept, emptied),
    ...blockedProviders(work, resources, kept),
    // Last: what goes with an identity or an identity provider grants no role.
    ...blockedRoles(work, resources, listed, emptied),
  ];
  const groups: BlockedRecord[] = [];
  for (const one of groupsToDelete(resources).toSorted((a, b) => b.uid.length - a.uid.length)) {
    const blocked = blockedGroup(work, one, context, kept, [...records, ...groups]);
    if (blocked) groups.push(blocked);
  }
  return [...records, ...groups];
};

/** All of it goes with forced groups which this record is not in. Which deletion is first, only the run decides. */
const mayGoFirst = (uid: string, contents: readonly Content[], emptied: readonly NodeId[]): boolean => {
  const others = emptied.filter((group) => !isAncestorOrSelf(group, uid));
  return contents.every((one) => others.some((group) => one.uid !== null && isAncestorOrSelf(group, one.uid)));
};

/** What is there after the run, and the names also of what may go. */
const withNames = ({ before, after }: Work): AccessGraph => ({
  ...after,
  groups: new Map([...after.groups, ...before.groups]),
  identities: new Map([...after.identities, ...before.identities]),
  roles: new Map([...after.roles, ...before.roles]),
});

/** What stays under a resource: its record, the role bindings of a set, and the adopted record of one that goes. */
const keptBy = ({ kind, planned, stored, deleted }: Resource): string[] => {
  const left = deleted.flatMap(({ uid, isLeft }) => (isLeft ? [uid] : []));
  if (!planned) return left;
  if (kind === "roleBindingSet") return stored ? managedBindings(stored.outputs, stored.uid).map(({ id }) => id) : [];
  return planned.uid === undefined ? left : [planned.uid, ...left];
};

const blockedIdentities = (
  { before, after, isVisible }: Work,
  resources: readonly Resource[],
  listed: AccessGraph,
  kept: ReadonlySet<string>,
  emptied: readonly NodeId[],
): BlockedRecord[] =>
  deletionsOf(resources, "identity").flatMap(({ stored, uid, resource }): BlockedRecord[] => {
    const held = bindingsOf(listed, uid);
    const contents = isForced(stored) ? spared(held, kept) : held.filter((one) => one.uid !== null);
    const identity = before.identities.get(uid);
    const isPossible = !isForced(stored) && contents.length > 0 && mayGoFirst(uid, contents, emptied);
    if (contents.length === 0) removeRecord(after, uid);
    // Where it is possible, its role bindings go with their groups.
    else if (identity && !isPossible) after.identities.set(uid, identity);
    const group = parentOf(uid);
    const found = { kind: "identity" as const, uid, name: identity?.name ?? uid, group, resource, contents };
    if (isForced(stored)) return refusedForce(found);
    const unseen = isVisible("roleBinding", group) ? [] : ["role bindings"];
    if (contents.length === 0 && unseen.length === 0) return [];
    return [{ ...found, unseen, ...(isPossible && { isPossible }) }];
  });

/** What keeps a record with forceDestroy: it takes along nothing that the run keeps or creates (provider/reconcile/delete.ts). */
const spared = (held: readonly Content[], kept: ReadonlySet<string>): Content[] =>
  held.filter(({ uid }) => uid === null || kept.has(uid));

const refusedForce = (found: Omit<BlockedRecord, "unseen" | "why">): BlockedRecord[] =>
  found.contents.length === 0
    ? []
    : [{ ...found, unseen: [], why: "forceDestroy takes nothing along while this run keeps some of it" }];

const blockedRoles = (
  { before, after, isVisible }: Work,
  resources: readonly Resource[],
  listed: AccessGraph,
  emptied: readonly NodeId[],
): BlockedRecord[] =>
  deletionsOf(resources, "role").flatMap(({ uid, resource }): BlockedRecord[] => {
    const contents = usersOf(listed, uid);
    const role = before.roles.get(uid);
    const isPossible = contents.length > 0 && mayGoFirst(uid, contents, emptied);
    if (contents.length > 0 && role && !isPossible) after.roles.set(uid, role);
    const group = parentOf(uid);
    // A role is granted in its group and below, where a caller sees no less.
    const unseen = USES.flatMap(([kind, words]) => (isVisible(kind, group) ? [] : [words]));
    if (contents.length === 0 && unseen.length === 0) return [];
    const found = { kind: "role" as const, uid, name: role?.name ?? uid, group, resource, contents };
    return [{ ...found, unseen, ...(isPossible && { isPossible }) }];
  });

const blockedProviders = (
  { before, after, isVisible }: Work,
  resources: readonly Resource[],
  kept: ReadonlySet<string>,
): BlockedRecord[] =>
  deletionsOf(resources, "identityProvider").flatMap(({ stored, uid, resource }): BlockedRecord[] => {
    const held = externalGroupsOf(after, uid);
    const contents = isForced(stored) ? spared(held, kept) : held;
    const provider = before.providers.get(uid);
    // Without its node, `removeRecord` takes nothing along.
    if (provider) after.providers.set(uid, provider);
    if (contents.length === 0) removeRecord(after, uid);
    const group = parentOf(uid);
    const found = { kind: "identity provider" as const, uid, name: provider?.name ?? uid, group, resource, contents };
    if (isForced(stored)) return refusedForce(found);
    // They are listed with the right to list their identity provider.
    const isListed = (["identityProvider", "externalGroupRoleMapping"] as const).every((kind) =>
      isVisible(kind, group),
    );
    const unseen = isListed ? [] : ["external groups"];
    return contents.length === 0 && unseen.length === 0 ? [] : [{ ...found, unseen }];
  });

/** `kept` is what stays under the resources, and `blocked` what the run fails to delete. */
const blockedGroup = (
  { before, after, isVisible }: Work,
  { uid, resource, stored }: ReturnType<typeof groupsToDelete>[number],
  { held, deletedElsewhere }: BlockedContext,
  kept: ReadonlySet<string>,
  blocked: readonly BlockedRecord[],
): BlockedRecord | undefined => {
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
  const left = stays
    .filter((one) => !deletedElsewhere.has(`${one.kind} ${one.uid}`))
    .map(({ kind, uid: id, name }): Content => ({ kind, uid: id, name }));
  const found = { kind: "group" as const, uid, name: node?.name ?? uid, group: uid, resource };
  if (isForced(stored)) {
    const refusal = refusalOfForce(after, stored, left, kept, blocked);
    if (refusal) return { ...found, ...refusal, unseen: [] };
    removeRecord(after, uid);
    return undefined;
  }
  if (left.length === 0) after.groups.delete(uid);
  const unseen = [
    ...KINDS.filter(([kind]) => !isVisible(kind, uid)).map(([, words]) => words),
    ...(held.unseen.get(uid) ?? []),
  ];
  if (left.length === 0 && unseen.length === 0) return undefined;
  return { ...found, contents: left, unseen };
};

/** Why forceDestroy deletes nothing (provider/reconcile/force-destroy.ts); undefined: it deletes what is left. */
const refusalOfForce = (
  after: AccessGraph,
  { uid, outputs }: Stored,
  left: Content[],
  kept: ReadonlySet<string>,
  blocked: readonly BlockedRecord[],
): { contents: Content[]; why: string } | undefined => {
  const isIn = (group: NodeId): boolean => isAncestorOrSelf(uid, group);
  const failing = new Set(blocked.filter(isCertain).map((one) => one.uid));
  const staying = left.filter((one) => one.uid === null || kept.has(one.uid) || failing.has(one.uid));
  if (staying.length > 0)
    return { contents: staying, why: "it holds what this run keeps, leaves in place, or fails to delete" };
  if (left.length === 0) return undefined;
  if (isRoot(uid)) return { contents: left, why: "forceDestroy does not empty an organization" };
  const max = typeof outputs.forceDestroyMax === "number" ? outputs.forceDestroyMax : FORCE_DESTROY_MAX;
  if (left.length > max)
    return { contents: left, why: `${left.length} records are below it, and forceDestroyMax is ${max}` };
  const identities = [...after.identities.values()].filter(({ group }) => group !== null && isIn(group));
  const outside = identities
    .flatMap(({ id }) => bindingsOf(after, id))
    .filter((one) => one.uid !== null && !isIn(parentOf(one.uid)));
  return outside.length === 0
    ? undefined
    : { contents: outside, why: "forceDestroy does not delete role bindings elsewhere of the identities below it" };
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
