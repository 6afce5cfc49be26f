// The kinds of resource, by the name that the state of each resource holds (provider/program/resource.ts).
import { type OperationName, type Resource, resources } from "../../schema/index.ts";
import { isManaged, kindFromResource } from "./from-resource.ts";
import { group } from "./group.ts";
import { groupInvite } from "./group-invite.ts";
import { type Behavior, type Kind, TYPE_PREFIX } from "./kind.ts";
import { roleBinding } from "./role-binding.ts";

// By the names of its methods: the published types name the kinds, and hold nothing of what a kind is.
type Managed<O> = O extends `Create${infer T}`
  ? `Get${T}` | `Delete${T}` extends OperationName
    ? Uncapitalize<T>
    : never
  : never;
export type KindName = Managed<OperationName>;

/** Most kinds have none. */
const behaviors: Readonly<Record<string, Behavior>> = { group, groupInvite, roleBinding } satisfies Partial<
  Record<KindName, Behavior>
>;

export const kindRecords = Object.fromEntries(
  Object.values<Resource>(resources)
    .filter(isManaged)
    .map((resource) => [resource.field, kindFromResource(resource, behaviors[resource.field])]),
) as Readonly<Record<KindName, Kind>>;

/** The kind of a type token of the engine; undefined for a resource that is not ours. */
export const kindOfToken = (token: string | undefined): Kind | undefined =>
  Object.values(kindRecords).find(({ type }) => TYPE_PREFIX + type === token);
