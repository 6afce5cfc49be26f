// Group: the only kind that may be at the root. It is deleted after everything below it.
import { isManaged, isRoot, type Json, type KindName, type Resource, resources } from "../../schema/index.ts";
import { type Behavior, type Kind, typeOfToken } from "../record/kind.ts";
import { IMPORTED, ROLE_NAME, SECRET_NAME } from "../record/state.ts";
import { kindFromResource } from "./from-resource.ts";
import { builtInRoleUid, isRoleName, partOf } from "./names.ts";

// Records that refer to another one are deleted first, groups last.
/** The kinds that a group may hold and a client can delete (docs/internals/contract.md#d7), in the order in which it can be deleted. */
export const BELOW = Object.values<Resource>(resources)
  .filter(isManaged)
  .filter(({ parent }) => parent === "Group")
  .toReversed();

export const group: Behavior = {
  blockers: (uid) =>
    BELOW.flatMap(({ list, word }) => [
      { ...list, request: { uidp: { descendantsOf: uid } }, word },
      ...(list.sharesUid ? [{ ...list, request: { uidp: { ids: [uid] } }, word }] : []),
    ]),
  supportsForceDestroy: "below",
};

// GroupInvite: the state keeps the uid of the role, and the name of a built-in role. Other names may be secret on the declared role.

export const groupInvite: Behavior = {
  resolveNames: (desired: Json, record: Json) => {
    const { uid, name } = partOf(record, "role");
    const isSame = isRoleName(desired.roleUid) && desired.roleUid === name && uid !== undefined;
    // An adopted record does not return its ttl: assume the program's.
    return {
      ...desired,
      ...(isSame && { roleUid: uid }),
      ...(record.ttl === undefined && { ttl: undefined }),
    };
  },
  stored: ({ role, roleUid, ...fields }: Json) => {
    const { uid = roleUid as string, name } = partOf({ role }, "role");
    return { ...fields, role: { uid, name: isRoot(uid) ? name : undefined } };
  },
  // For the code that an import generates: the arguments that produce this record.
  shown: (outputs: Json) => {
    const { [IMPORTED]: isImported, createTime, expirationTime } = outputs;
    if (isImported !== true) return {};
    const { name } = partOf(outputs, "role");
    const seconds = Math.round((Date.parse(expirationTime as string) - Date.parse(createTime as string)) / 1000);
    return { ...(seconds > 0 && { ttl: `${seconds}s` }), ...(name !== undefined && { role: name }) };
  },
};

// RoleBinding: written by uids, answered with the identity, the group and the role in full. The state keeps the uid and name of each:
// description, issuer, subject and email belong to other records, and may be secret there.

export const PARTS = ["identity", "role", "group"] as const;
export type Part = (typeof PARTS)[number];

/** Whether the state omits the name of a part: `bag` holds the arguments, or the outputs so far. */
const isSecret = (bag: Json, part: Part, uid: unknown) => {
  if (bag.names !== undefined) return (bag.names as Json)[part] === SECRET_NAME;
  const before = partOf(bag, part);
  return before.uid !== undefined && before.uid === uid && before.name === undefined;
};

export const roleBinding: Behavior = {
  display: ["names"],
  parentOutput: "group",
  isHarmlessTwice: true,
  batchCreate: "BatchCreateRoleBindings",
  resolveNames: (desired: Json, record: Json) => {
    const { roleUid: name } = desired;
    const { uid, name: liveName } = partOf(record, "role");
    if (!isRoleName(name) || liveName !== name || uid === undefined || !isRoot(uid)) return desired;
    return { ...desired, roleUid: uid, [ROLE_NAME]: name };
  },
  resolve: async (session, desired: Json) => {
    const { roleUid: name } = desired;
    if (!isRoleName(name)) return desired;
    return { ...desired, roleUid: await builtInRoleUid(session, name), [ROLE_NAME]: name };
  },
  stored: (answer: Json, bag: Json) => {
    const { identityUid, roleUid, ...fields } = answer;
    // Sample responses of the API omit the two uids, which are in the objects.
    const uids: Record<Part, unknown> = {
      identity: identityUid || partOf(answer, "identity").uid,
      role: roleUid || partOf(answer, "role").uid,
      group: partOf(answer, "group").uid,
    };
    const parts = PARTS.map((part) => {
      const uid = uids[part];
      const name = isSecret(bag, part, uid) ? undefined : partOf(answer, part).name;
      return [part, uid ? { uid, name } : undefined];
    });
    return { ...fields, ...Object.fromEntries(parts), [ROLE_NAME]: bag[ROLE_NAME] };
  },
  shown: (outputs: Json) => {
    const role = partOf(outputs, "role");
    const isNamed = role.uid !== undefined && isRoot(role.uid) && outputs[ROLE_NAME] === role.name;
    return isNamed ? { role: role.name } : {};
  },
  holdsSecret: (outputs: Json, desired: Json) =>
    PARTS.some((part) => (desired.names as Json | undefined)?.[part] === SECRET_NAME && partOf(outputs, part).name),
};

// The kinds of resource, by the name that the state of each resource holds (provider/program/form.ts).

export type { KindName };

/**
 * The kinds that the handler text of a state names. A set of role bindings is not a record of the API, so it has no Kind (provider/set).
 */
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

/** The kind with this name in the journal; undefined for a kind of a later version. */
export const kindOfField = (field: string): Kind | undefined =>
  Object.hasOwn(kindRecords, field) ? kindRecords[field as KindName] : undefined;

/** The kind of a type token of the engine; undefined for a resource that is not ours. */
export const kindOfToken = (token: string | undefined): Kind | undefined => {
  const typeName = typeOfToken(token);
  return Object.values(kindRecords).find(({ type }) => type === typeName);
};
