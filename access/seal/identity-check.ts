// Whether what a run would do to the access of one identity is what the seal shows: the change that the seal describes is applied to what
// the API says of this identity now.
import { type Json, parentOf } from "../../schema/index.ts";
import {
  type AccessGraph,
  type BindingNode,
  type GraphBuilder,
  type GroupNode,
  type NodeId,
  newGraph,
} from "../graph/graph.ts";
import type { Listed } from "../graph/live-record.ts";
import { textOf } from "../graph/same.ts";
import type { AccessRow } from "../review/change.ts";
import { type Change, heldBeyond, type IdOf } from "./change.ts";
import { type Facts, UnreadableFact, uidIn } from "./facts.ts";
import { notShown, rowsBetween } from "./rows.ts";

/** What differs from the seal, each a sentence; empty where nothing does. `written`: a role that the next request gives what the seal says. */
export const identityProblems = async (
  change: Change,
  facts: Facts,
  idOf: IdOf,
  uid: string,
  written?: NodeId,
): Promise<readonly string[]> => {
  const id = idOf("identity", uid);
  // What people have bound to an identity that the change creates is there before and after each write.
  const bound = id === uid ? await facts.bindingsOf(uid) : [];
  const listed = bound.filter((one) => uidIn(one.identity) === uid);
  const { live, after } = await graphsOf(change, facts, idOf, id, listed, written);
  const { gains, losses } = rowsBetween(live, after)(id);
  const shown = change.rowsOf(id);
  const name = nameOf(change, id);
  const texts = [
    ...notShown(gains, shown.gains, after).map((row) => `${name} would gain ${rowText(change, after, row)}`),
    ...notShown(losses, shown.losses, live).map((row) => `${name} would lose ${rowText(change, live, row)}`),
  ];
  if (gains.length + shown.gains.length === 0) return texts;
  return [...texts, ...(await claimProblems(change, facts, id, uid))];
};

/** Whether the API says what the seal says about who can assume the identity. */
export const claimProblems = async (
  { before, after }: Pick<Change, "before" | "after">,
  facts: Facts,
  id: NodeId,
  uid: string,
): Promise<string[]> => {
  const now = (await facts.record("identity", uid, id !== uid)).identities.get(uid);
  if (!now) return [`identity ${uid} does not exist any more`];
  const shown = [before, after].flatMap(({ identities }) => identities.get(id) ?? []);
  if (shown.some(({ relationship }) => isSame(relationship, now.relationship))) return [];
  return [`who can assume ${now.name} is not what the review shows`];
};

/** The API sets the end of static keys where the program has none. */
const isSame = (shown: Json | null, now: Json | null): boolean => {
  const [keys, held] = [shown?.staticKeys, now?.staticKeys] as (Json | undefined)[];
  if (!keys || !held || keys.expirationTime) return textOf(shown) === textOf(now);
  const { expirationTime: _, ...own } = held;
  return textOf({ ...now, staticKeys: own }) === textOf(shown);
};

/** Whether the identity holds anything now that the seal has neither before nor after the change: another workload would get it too. */
export const heldProblems = async (change: Change, facts: Facts, idOf: IdOf, uid: string): Promise<string[]> => {
  const id = idOf("identity", uid);
  await facts.requireListable("roleBinding", parentOf(uid));
  const { live } = await graphsOf(change, facts, idOf, id, await facts.bindingsOf(uid));
  return heldBeyond(
    change,
    live,
  )(id).map((row) => `${nameOf(change, id)} holds ${rowText(change, live, row)}, which the review does not show`);
};

/** The access of one identity: as it is now, and after the change of the seal. */
const graphsOf = async (
  change: Change,
  facts: Facts,
  idOf: IdOf,
  id: NodeId,
  listed: readonly Listed[],
  written?: NodeId,
): Promise<{ live: AccessGraph; after: AccessGraph }> => {
  const [live, after] = [newGraph(), newGraph()];
  const add = (graph: GraphBuilder, binding: BindingNode): void => {
    graph.bindings.set(binding.id, binding);
    for (const one of [live, after]) addGroups(one, change, idOf, binding.group);
  };
  for (const { uid, role } of listed) {
    const group = idOf("group", parentOf(uid));
    const binding: BindingNode = { id: uid, uid, group, identity: id, role: idOf("role", uidIn(role)) };
    add(live, binding);
    // What people have given to another identity meanwhile is not what the change removes.
    const isShown = change.before.bindings.get(uid)?.identity === id;
    const stays = !isShown || change.after.bindings.get(uid)?.identity === id;
    if (stays && isThere(change, "identities", id)) add(after, binding);
  }
  for (const binding of change.after.bindings.values()) {
    const old = change.before.bindings.get(binding.id);
    const isChanged = !old || old.role !== binding.role || old.identity !== id;
    if (binding.identity === id && isChanged) add(after, binding);
  }
  const roles = new Set([...live.bindings.values(), ...after.bindings.values()].map(({ role }) => role));
  for (const role of roles) await addRoleTo(live, after, change, facts, role, role === written);
  return { live, after };
};

/** The change does not delete it. */
const isThere = ({ before, after }: Change, nodes: "identities" | "roles", id: NodeId): boolean =>
  !before[nodes].has(id) || after[nodes].has(id);

/** A role that the change creates grants what the seal says; whether it does is asked before the first write with its uid. */
const addRoleTo = async (
  live: GraphBuilder,
  after: GraphBuilder,
  change: Change,
  facts: Facts,
  id: NodeId,
  isWritten: boolean,
): Promise<void> => {
  const [was, is] = [change.before.roles.get(id), change.after.roles.get(id)];
  if (!was && is && is.uid === null) {
    for (const graph of [live, after]) graph.roles.set(id, is);
    return;
  }
  const now = (await facts.record("role", id)).roles.get(id);
  if (!now && is && is.capabilities.length > 0) throw new UnreadableFact(`role ${id} does not exist any more`);
  if (now) live.roles.set(id, now);
  // An adopted role may have been narrowed by hand: to restore it is a gain.
  const isChanged = was && is && (isWritten || textOf(was.capabilities) !== textOf(is.capabilities));
  const later = isChanged ? is : now;
  if (later && isThere(change, "roles", id)) after.roles.set(id, later);
};

const addGroups = (graph: GraphBuilder, { before, after }: Change, idOf: IdOf, group: NodeId): void => {
  for (let id: NodeId | null = group; id !== null && !graph.groups.has(id); ) {
    const known: GroupNode | undefined = after.groups.get(id) ?? before.groups.get(id);
    const parent: NodeId | null = known ? known.parent : parentOf(id) === "" ? null : idOf("group", parentOf(id));
    graph.groups.set(id, known ?? { id, uid: id, name: id, parent });
    id = parent;
  }
};

const nameOf = ({ before, after }: Pick<Change, "before" | "after">, id: NodeId): string =>
  (after.identities.get(id) ?? before.identities.get(id))?.name ?? `identity ${id}`;

const rowText = ({ before, after }: Change, live: AccessGraph, { group, capability, role }: AccessRow): string => {
  const named = (nodes: "groups" | "roles", id: NodeId): string =>
    (after[nodes].get(id) ?? before[nodes].get(id) ?? live[nodes].get(id))?.name ?? id;
  return `${capability} at ${named("groups", group)}, through ${named("roles", role)}`;
};
