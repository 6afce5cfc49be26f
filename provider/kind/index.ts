// Group: the only kind that may be at the root. It is deleted after everything below it.
import {
  argumentsOf,
  fieldPaths,
  fieldsWith,
  isManaged,
  isRoot,
  isUidp,
  type Json,
  type KindName,
  type Managed,
  type Operation,
  parentOf,
  type Resource,
  resources,
  rootOf,
  valueAt,
} from "../../schema/index.ts";
import {
  type Behavior,
  type Blockers,
  type Kind,
  type LookUpSession,
  referencesOf,
  typeOfToken,
} from "../record/kind.ts";
import { IMPORTED, ROLE_NAME, SECRET_NAME } from "../record/state.ts";
import { builtInRoleUid, isRoleName, partOf, resolveRole } from "./names.ts";

// Records that refer to another one are deleted first, groups last.
/** The kinds that a group may hold and a client can delete (docs/contract.md#d7), in the order in which it can be deleted. */
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

// A kind from the descriptor of its resource: everything that its fields and methods define, so a kind whose rules are facts about the API
// needs no code.

const kindFromResource = (resource: Managed, behavior: Behavior = {}): Kind => {
  const { schema, matchedBy, word, list, cascades } = resource;
  const held = blockersOf(resource);
  const references = referencesOf(resource);
  const roles = references.flatMap(({ path, type }) => (type === "Role" ? [path] : []));
  const aliases = fieldsWith(schema, ({ alias }) => alias);
  const answered = fieldsWith(schema, ({ answeredAs }) => answeredAs);
  const synonyms = fieldsWith(schema, (info) => info.synonyms);

  const normalizeResponse = (answer: Json): Json => {
    const record = aliases.reduce((result, { name, value }) => renameField(result, value, name), answer);
    const uids = answered.map(({ name, value }) => [name, record[name] || valueAt(record, value)]);
    return { ...record, ...Object.fromEntries(uids) };
  };

  return {
    ...resource,
    arguments: argumentsOf(schema),
    filters: (desired) =>
      Object.fromEntries(
        matchedBy.flatMap((field) => filtersOf(resource, field).map((name) => [name, desired[field]])),
      ),
    respelled: fieldPaths(schema, (info) => info.respelled === true),
    canonicalize: (input) => {
      const lists = synonyms.flatMap(({ name, value: texts }) => {
        const value = input[name];
        return Array.isArray(value)
          ? [[name, value.map((text) => (Object.hasOwn(texts, text) ? texts[text] : text))]]
          : [];
      });
      return { ...input, ...Object.fromEntries(lists) };
    },
    valueNames: Object.fromEntries(synonyms.map(({ name, value }) => [name, Object.entries(value).flat()])),
    ...(aliases.length + answered.length > 0 && { normalizeResponse }),
    ...(aliases.length > 0 && {
      stored: (answer: Json) => aliases.reduce((result, { name, value }) => renameField(result, name, value), answer),
    }),
    byName: roles,
    ...(roles.length > 0 && {
      resolve: async (session: LookUpSession, desired: Json) => {
        let result = desired;
        for (const field of roles) result = await resolveRole(session, result, field);
        return result;
      },
    }),
    ...(references.length + Number(list.sharesUid ?? false) > 0 && {
      references: (stored: Json) => {
        const record = normalizeResponse(stored);
        const values = references.flatMap(({ path }) => valueAt(record, path));
        return [...(list.sharesUid ? [record.uid] : []), ...values].flatMap(uidsIn);
      },
    }),
    ...(held.length > 0 && { blockers: (uid: string) => held.map((one) => one.with(uid)) }),
    ...(cascades && {
      deleteGuard: `${held.map(({ words }) => words).join(" and ")} of the ${word} would be deleted with it, and this run deletes none of them`,
      supportsForceDestroy: "guarded" as const,
    }),
    ...behavior,
  };
};

const renameField = (record: Json, from: string, to: string) => {
  const { [from]: value, ...others } = record;
  return value === undefined ? record : { [to]: value, ...others };
};

const uidsIn = (value: unknown): string[] => {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(uidsIn);
  return isUidp(value) ? [value] : [];
};

/** The filters of its list that narrow it by a field: by the name of the field, or of the argument. */
const filtersOf = (resource: Resource, field: string) => {
  const { shape } = (resource.methods[resource.list.operation] as Operation).request;
  return [field, argumentsOf(resource.schema)[field] ?? field].filter((name) => name in shape).slice(0, 1);
};

interface BlockerLists {
  words: string;
  with(uid: string): Blockers;
}

/** Lists of the records that prevent the deletion of a record: its contents and its referrers, as far as the API can list them. */
const blockersOf = ({ type }: Resource): BlockerLists[] =>
  Object.values<Resource>(resources).flatMap((other) => {
    const { list, word, words } = other;
    const blockersWith = (
      request: (uid: string) => Json,
      everyone: (uid: string) => Json,
      isOne: (record: Json, uid: string) => boolean,
    ): BlockerLists => ({
      words,
      with: (uid) => ({
        ...list,
        request: { ...list.always, ...request(uid) },
        word,
        among: { everyone: everyone(uid), isOne: (record) => isOne(record, uid) },
      }),
    });
    const isInside = other.parent === type && isManaged(other);
    const references = referencesOf(other).filter((one) => one.type === type);
    const answered = fieldsWith(other.schema, ({ answeredAs }) => answeredAs);
    const inside = blockersWith(
      (uid) => ({ uidp: { childrenOf: uid } }),
      (uid) => ({ uidp: { descendantsOf: rootOf(uid) } }),
      (record, uid) => parentOf(String(record.uid)) === uid,
    );
    return [
      ...(isInside ? [inside] : []),
      ...references.flatMap(({ path }) => {
        // In a response.
        const answeredPath = answered.find(({ name }) => name === path)?.value ?? path;
        return filtersOf(other, path).map((filter) =>
          // Records of other organizations may also refer to it.
          blockersWith(
            (uid) => ({ [filter]: uid }),
            () => ({}),
            (record, uid) => uidsIn(valueAt(record, answeredPath)).includes(uid),
          ),
        );
      }),
    ];
  });

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
