// The kinds of resources that give access, and the places of their records in a graph.

import type { StateResource } from "../../pulumi/state.ts";
import { ourTypeOf, partsOfUrn } from "../../pulumi/urn.ts";
import { valuesIn } from "../../pulumi/value.ts";
import {
  resources as descriptors,
  isManaged,
  isUidp,
  type Json,
  parentOf,
  type Resource,
  rootOf,
} from "../../schema/index.ts";
import type { AccessGraph, BindingNode } from "../graph/graph.ts";

const NODES = {
  group: "groups",
  role: "roles",
  identity: "identities",
  identityProvider: "providers",
  externalGroupRoleMapping: "externalGroups",
  groupInvite: "invites",
  roleBinding: "bindings",
} as const satisfies Partial<Record<keyof typeof descriptors, keyof AccessGraph>>;

type RecordKind = keyof typeof NODES;
export type ResourceKind = RecordKind | "roleBindingSet";

/** The word for a kind in messages. */
export const wordOf = (kind: ResourceKind): string =>
  kind === "roleBindingSet" ? "role binding set" : descriptors[kind].word;

const KINDS: Readonly<Record<string, ResourceKind>> = Object.fromEntries([
  ...Object.values<Resource>(descriptors)
    .filter((one) => isManaged(one) && Object.hasOwn(NODES, one.field))
    .map(({ type, field }) => [type, field]),
  ["RoleBindingSet", "roleBindingSet"],
]);

/** For a resource that gives access; undefined for any other. */
export const kindOfUrn = (urn: string): ResourceKind | undefined => KINDS[ourTypeOf(urn) ?? ""];

// The resources of a stack, as the engine lists them before and after a run, and their records.

export interface Managed {
  urn: string;
  /** name in the program */
  name: string;
  kind: ResourceKind;
  uid: string;
  inputs: Json;
  outputs: Json;
  /** it was only read, and is never deleted */
  isRead: boolean;
}

/** The resources whose record gives access, and sets of role bindings. These include leftovers of a replacement. */
export const managedIn = (resources: readonly StateResource[]): Managed[] =>
  resources.flatMap(({ urn, id, inputs, outputs, external }) => {
    const kind = kindOfUrn(urn);
    if (kind === undefined || !isUidp(id)) return [];
    const values = { inputs: valuesIn(inputs), outputs: valuesIn(outputs) };
    return [{ urn, name: partsOfUrn(urn).name, kind, uid: id, ...values, isRead: external === true }];
  });

export const isRecord = ({ kind }: Managed): boolean => kind !== "roleBindingSet";

/** The role binding of a resource, or the role bindings that a set declares. */
export const bindingsOf = ({ kind, uid, outputs }: Managed): BindingNode[] => {
  if (kind === "roleBindingSet") return Array.isArray(outputs.bindings) ? bindingsIn(outputs.bindings, uid) : [];
  return kind === "roleBinding" ? bindingsIn([{ ...outputs, uid }], parentOf(uid)) : [];
};

interface OutputBinding {
  uid?: string;
  identity?: { uid?: string };
  role?: { uid?: string };
}

const bindingsIn = (list: readonly OutputBinding[], group: string) =>
  list.flatMap((one) => {
    const [uid, identity, role] = [one?.uid, one?.identity?.uid, one?.role?.uid];
    return uid && identity && role ? [{ id: uid, uid, group, identity, role }] : [];
  });

/** uids of all records of the resources. */
export const recordsOf = (all: readonly Managed[]): Set<string> =>
  new Set(all.flatMap((one) => (isRecord(one) ? [one.uid] : bindingsOf(one).map(({ id }) => id))));

/** The place of the records of the resource in a graph. */
export const nodesOf = ({ kind }: Managed) => NODES[kind as RecordKind];

export const organizationsOf = (all: readonly Managed[]): Set<string> =>
  new Set(
    all.flatMap(({ uid, inputs: { parent } }) => [uid, parent]).flatMap((uid) => (isUidp(uid) ? [rootOf(uid)] : [])),
  );
