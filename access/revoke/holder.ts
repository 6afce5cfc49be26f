// The holder of the access that a revocation removes. An identity has a role by a role binding; the people of an external group have one
// by a mapping.
import { createRecord, isListable, listAll } from "../../client/records.ts";
import { type Json, parentOf, resources } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { type AccessGraph, type GroupNode, lineageOf, type NodeId, placesIn } from "../graph/graph.ts";
import type { Caller } from "../graph/hidden.ts";
import { peopleGraph } from "../graph/people.ts";
import { ownersIn } from "../review/rule.ts";
import type { UndoFile } from "./undo-file.ts";

const { externalGroupRoleMapping, roleBinding } = resources;

export type Holder = UndoFile["holder"];

/** For people: `release`, `external group SRE of acme-sso` */
export const labelOf = ({ name, externalGroup }: Holder): string =>
  externalGroup === undefined ? name : `external group ${externalGroup} of ${name}`;

/** A record that gives a role at a group. */
interface Grant {
  uid: string;
  /** uid */
  group: string;
  /** uid */
  role: string;
}

/** The kind of the records that give the holder a role. */
export const kindOf = ({ externalGroup }: Holder): typeof roleBinding | typeof externalGroupRoleMapping =>
  externalGroup === undefined ? roleBinding : externalGroupRoleMapping;

/** The current grants of a holder. */
export const listGrants = async (client: Caller, { uid: holder, externalGroup }: Holder): Promise<Grant[]> => {
  const found: Grant[] = [];
  // A service that ignores the filter also lists those of others.
  if (externalGroup === undefined)
    for await (const record of listAll(client, roleBinding.list, { identity: holder })) {
      const { uid, ...parts } = record as { uid: string } & Record<"identity" | "group" | "role", { uid?: string }>;
      if (parts.identity?.uid === holder)
        found.push({ uid, group: parts.group?.uid ?? "", role: parts.role?.uid ?? "" });
    }
  else
    for await (const record of listAll(client, externalGroupRoleMapping.list, { identityProviderUid: holder })) {
      const { uid, externalGroupId, roleUid, scope } = record as Record<string, string> & { uid: string };
      if (parentOf(uid) === holder && externalGroupId === externalGroup)
        found.push({ uid, group: scope ?? "", role: roleUid ?? "" });
    }
  return found;
};

/** Gives the holder a role again. Throws if the caller could not see that it has the role. */
export const createGrant = async (client: Caller, holder: Holder, { group, role }: HeldBinding): Promise<Json> => {
  const { uid, externalGroup } = holder;
  const kind = kindOf(holder);
  const parent = externalGroup === undefined ? group : uid;
  if (!(await isListable(client, kind, parent))) {
    const right = externalGroup === undefined ? "role_bindings.list" : "identity_providers.list";
    const place = externalGroup === undefined ? "this group" : "this identity provider";
    throw new Error(`${kind.words} of ${place} cannot be listed, so it may exist: ${right} is needed at it`);
  }
  const body =
    externalGroup === undefined
      ? { identityUid: uid, roleUid: role }
      : { externalGroupId: externalGroup, roleUid: role, scope: group };
  return createRecord(client, kind, parent, body);
};

// The records that a revocation removes, role bindings or a mapping of an external group, and reasons against it.

export type HeldBinding = UndoFile["bindings"][number];

/** A role binding, or a mapping of an external group, as a person reads it. */
export const heldFrom = (graph: AccessGraph): ((grant: { id: NodeId; group: NodeId; role: NodeId }) => HeldBinding) => {
  const placeName = placesIn(graph);
  return ({ id, group, role }) => {
    const { name = role } = graph.roles.get(role) ?? {};
    return { binding: id, group, path: placeName(group), role, roleName: name };
  };
};

/** The bindings of an identity, from the organization down. */
export const bindingsOf = (graph: AccessGraph, identity: NodeId): HeldBinding[] =>
  [...graph.bindings.values()]
    .filter((one) => one.identity === identity)
    .map(heldFrom(graph))
    .sort((a, b) => compare(a.group, b.group) || compare(a.roleName, b.roleName) || compare(a.binding, b.binding));

/**
 * Bindings that let the identity grant itself access again come first. The caller's own bindings are in the opposite order, so that the
 * right to remove them is removed last.
 */
export const inOrderOfRemoval = (graph: AccessGraph, held: readonly HeldBinding[], isOwn: boolean): HeldBinding[] => {
  const rank = ({ group, role }: HeldBinding) => {
    const manages = graph.roles.get(role)?.capabilities.some((one) => MANAGES.includes(one)) ?? false;
    return lineageOf(graph, group).length + (manages ? 0 : LEVELS);
  };
  const ordered = held.toSorted((a, b) => rank(a) - rank(b));
  return isOwn ? ordered.reverse() : ordered;
};

const MANAGES = ["role_bindings.create", "role_bindings.delete"];

/** More levels than any group has above it. */
const LEVELS = 1_000;

/**
 * The organizations that would lose the last owner that the caller can see. People count if no identity is an owner: they cannot run a
 * pipeline.
 */
export const lastOwned = (graph: AccessGraph, removed: ReadonlySet<NodeId>, nowMs: number): GroupNode[] => {
  const left = <N>(nodes: ReadonlyMap<NodeId, N>) => new Map([...nodes].filter(([id]) => !removed.has(id)));
  const after: AccessGraph = { ...graph, bindings: left(graph.bindings), externalGroups: left(graph.externalGroups) };
  const [owned, owning] = [ownersIn(graph), ownersIn(after)];
  const [people, peopleLeft] = [graph, after].map((one) => ownersIn(peopleGraph(one, nowMs))) as [Owners, Owners];
  return [...new Set([...owned.keys(), ...people.keys()])]
    .filter((group) => (owned.has(group) ? !owning.has(group) : !peopleLeft.has(group)))
    .flatMap((group) => graph.groups.get(group) ?? []);
};

type Owners = ReturnType<typeof ownersIn>;
