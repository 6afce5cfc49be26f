// The kinds of resource, by the name that the state of each resource holds (provider/engine/handler-text.ts).
import { isManaged, type KindName, type Resource, resources } from "../../schema/index.ts";
import { type Behavior, type Kind, typeOfToken } from "../record/kind.ts";
import { kindFromResource } from "./from-resource.ts";
import { group } from "./group.ts";
import { groupInvite } from "./group-invite.ts";
import { roleBinding } from "./role-binding.ts";

export type { KindName };

/** What the handler text of a state names. A set of role bindings is not a record of the API, so it has no Kind (provider/set). */
export type StateKind = KindName | "roleBindingSet";

/** Most kinds have none. */
const behaviors: Readonly<Record<string, Behavior>> = { group, groupInvite, roleBinding } satisfies Partial<
  Record<KindName, Behavior>
>;

export const kindRecords: Readonly<Record<KindName, Kind>> = Object.fromEntries(
  Object.values<Resource>(resources)
    .filter(isManaged)
    .map((resource) => [resource.field, kindFromResource(resource, behaviors[resource.field])]),
) as Readonly<Record<KindName, Kind>>;

/** The kind that the journal calls so; undefined for one of a later version. */
export const kindOfField = (field: string): Kind | undefined =>
  Object.hasOwn(kindRecords, field) ? kindRecords[field as KindName] : undefined;

/** The kind of a type token of the engine; undefined for a resource that is not ours. */
export const kindOfToken = (token: string | undefined): Kind | undefined => {
  const typeName = typeOfToken(token);
  return Object.values(kindRecords).find(({ type }) => type === typeName);
};
