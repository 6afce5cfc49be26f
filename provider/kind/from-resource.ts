// A kind from the descriptor of its resource: everything that its fields and methods define, so a kind whose rules are facts about the API
// needs no code.
import {
  argumentsOf,
  fieldPaths,
  fieldsWith,
  isManaged,
  isUidp,
  type Json,
  type Managed,
  type Operation,
  outputsOf,
  parentOf,
  type Resource,
  resources,
  rootOf,
  valueAt,
} from "../../schema/index.ts";
import { type Behavior, type Blockers, type Kind, type LookUpSession, referencesOf } from "../record/kind.ts";
import { renameFields } from "../record/state.ts";
import { resolveRole } from "./names.ts";

export const kindFromResource = (resource: Managed, behavior: Behavior = {}): Kind => {
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
      return renameFields({ ...input, ...Object.fromEntries(lists) }, Object.entries(outputsOf(schema)));
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
