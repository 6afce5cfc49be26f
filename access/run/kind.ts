// The kinds of resources that give access, and where a graph has their records.

import { ourTypeOf } from "../../pulumi/urn.ts";
import { resources as descriptors, isManaged, type Resource } from "../../schema/index.ts";
import type { AccessGraph } from "../graph/graph.ts";

export const NODES = {
  group: "groups",
  role: "roles",
  identity: "identities",
  identityProvider: "providers",
  externalGroupRoleMapping: "externalGroups",
  groupInvite: "invites",
  roleBinding: "bindings",
} as const satisfies Partial<Record<keyof typeof descriptors, keyof AccessGraph>>;

export type RecordKind = keyof typeof NODES;
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

/** Of a resource that gives access; undefined for any other. */
export const kindOfUrn = (urn: string): ResourceKind | undefined => KINDS[ourTypeOf(urn) ?? ""];
