// The normal form of a write, independent of its wire, version, order of fields or batch, and of repeated sends. So two equal writes are
// equal texts, except for the numbers of the writes that they refer to.
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import {
  fieldInfo,
  fieldPaths,
  inputFields,
  isWithin,
  type Json,
  type Message,
  normalForm,
  parentOf,
  parseMask,
  valueAt,
  WILDCARD,
} from "../../schema/index.ts";
import { canonical, digestOf } from "../canonical.ts";
import { type Call, makesUid, methodOf, singleCalls, type WriteMethod } from "./methods.ts";
import { madeUids, secretIn, type Text } from "./text.ts";
import { type Encoding, encodeFields, mapMade } from "./value.ts";

export interface Write {
  /** from 1 */
  n: number;
  /** address; absent: the first service of the change */
  service?: string;
  method: string;
  /** of a create; absent: a new organization */
  parent?: Text;
  /** of an update and a delete */
  uid?: Text;
  /** of an update, the fields of the mask: an absent one is cleared */
  fields: Json;
  /** of an update: paths, sorted, none below another one */
  mask?: string[];
}

interface NormalOptions {
  /** Texts that must not be in a change: leaves of values that a state marks as secret. Default: none. */
  secrets?: Iterable<string>;
  /** A record before the change, by the plural of its kind; undefined: it is unknown. Shows which paths `*` changes. */
  recordOf?: (plural: string, uid: string, service: string | undefined) => Json | undefined;
}

export type Normal = ReturnType<typeof writesFrom>;

/** The writes of the calls, in their order. */
export const writesFrom = (
  calls: readonly Call[],
  { secrets = [], recordOf = () => undefined }: NormalOptions = {},
) => {
  const writes: Write[] = [];
  /** uids that the twin assigned, by the number of the write */
  const uids = new Map<number, string>();
  /** The key of each write (`keyOf`). */
  const keys: string[] = [];
  // A code that the twin has generated is not a secret of the state, and the service generates another one.
  const singles = calls.flatMap(singleCalls);
  const isSecret = secretIn([...secrets, ...singles.flatMap(secretsOfAnswer)]);
  const { add, encodeText } = madeUids(isSecret);
  const encoding: Encoding = { encodeText, orderOf: (encoded) => canonical(neutral(encoded, keys)) };
  const current = new Map<string, Json>();
  const latest = new Map<string, string>();

  for (const { method: name, service, request, response } of singles) {
    const method = methodOf(name);
    const { verb, resource, field, schema } = method;
    const own = (field === undefined ? {} : (request[field] ?? {})) as Json;
    const uid = (verb === "create" ? response.uid : verb === "update" ? own.uid : request.uid) as string;
    const record = `${service ?? ""} ${schema === resource.schema ? resource.plural : name} ${uid}`;
    const known = current.get(record) ?? recordOf(resource.plural, uid, service);
    const head = { n: writes.length + 1, ...(service !== undefined && { service }), method: name };
    const write: Write =
      verb === "create"
        ? { ...head, ...createOf(method, request, response, encoding) }
        : {
            ...head,
            uid: encodeText(uid),
            ...(verb === "update" ? updateOf(method, request, response, known, encoding) : { fields: {} }),
          };
    current.set(record, response);
    const text = canonical({ ...write, n: 0 });
    // Skips a request that was sent again, or that changes no path.
    if ((verb !== "create" || known !== undefined) && latest.get(record) === text) continue;
    if (write.mask?.length === 0) continue;
    latest.set(record, text);
    writes.push(write);
    keys.push(keyOf(write, keys));
    if (makesUid(method) && known === undefined) {
      add(uid, write.n);
      uids.set(write.n, uid);
    }
  }
  return { writes, uids: uids as ReadonlyMap<number, string>, keys, encodeText };
};

const secretsOfAnswer = ({ method, response }: Call) =>
  fieldPaths(methodOf(method).schema, ({ secret }) => secret === true)
    .map((path) => valueAt(response, path))
    .filter((value) => typeof value === "string");

const createOf = ({ resource, field, schema }: WriteMethod, request: Json, response: Json, encoding: Encoding) => {
  // The parent of a group may be a name or a suffix (docs/internals/contract.md#values).
  const parent = resource.root ? parentOf(response.uid as string) : (request.parent as string);
  const own = request[field as string] as Json;
  return {
    ...(parent !== "" && { parent: encoding.encodeText(parent) }),
    fields: encodeFields(schema, normalForm(schema, respelled(schema, own, response)), encoding),
  };
};

const updateOf = (
  { field, schema }: WriteMethod,
  request: Json,
  response: Json,
  before: Json | undefined,
  encoding: Encoding,
) => {
  const own = request[field as string] as Json;
  const { paths } = parseMask(schema, (request.updateMask as string | undefined) ?? "");
  const named = paths.includes(WILDCARD) ? changedPaths(schema, own, before, response) : paths;
  const mask = topmost(named);
  const normal = normalForm(schema, respelled(schema, own, response));
  return { fields: encodeFields(schema, partOf(normal, mask), encoding), mask };
};

/** Sorted, no path below another one. */
export const topmost = (paths: readonly string[]): string[] =>
  paths.filter((path) => !paths.some((above) => above !== path && isWithin(path, above))).sort();

/** The fields with the uid that the service has read from a text (`respelled`). */
const respelled = (schema: Message, own: Json, response: Json) =>
  fieldPaths(schema, ({ respelled }) => respelled === true).reduce((value, path) => {
    const [stored, given] = [valueAt(response, path), valueAt(own, path)];
    return stored === undefined || given === undefined ? value : withValue(value, path.split("."), stored);
  }, own);

/** The paths that `*` changes: it replaces the record. Fields that the service does not return may have changed. */
const changedPaths = (schema: Message, own: Json, before: Json | undefined, after: Json) =>
  inputFields(schema).filter((name) => {
    if (before === undefined) return true;
    const field = schema.shape[name] as z.ZodType;
    const hasInput = fieldPaths(schema, ({ inputOnly, answeredAs }) => inputOnly === true && answeredAs === undefined)
      .filter((path) => isWithin(path, name))
      .some((path) => valueAt(own, path) !== undefined);
    const valueIn = (record: Json) => {
      const { answeredAs } = fieldInfo(field);
      const value = record[name] ?? (answeredAs === undefined ? undefined : valueAt(record, answeredAs));
      return normalForm(schema, { [name]: value })[name];
    };
    return hasInput || !isDeepStrictEqual(valueIn(before), valueIn(after));
  });

export const withValue = (value: Json, [name = "", ...rest]: string[], held: unknown): Json => ({
  ...value,
  [name]: rest.length === 0 ? held : withValue((value[name] ?? {}) as Json, rest, held),
});

/** The part of the value at these paths. */
export const partOf = (value: Json, paths: readonly string[]): Json =>
  paths.reduce<Json>((part, path) => {
    const held = valueAt(value, path);
    return held === undefined ? part : withValue(part, path.split("."), held);
  }, {});

export const neutral = (value: unknown, keys: readonly string[]): unknown =>
  mapMade(value, (made) => Object.fromEntries(Object.entries(made).map(([name, n]) => [name, keys[n - 1]])));

/**
 * The content of a write, independent of its number and the numbers that it refers to: equal writes of two changes have equal keys. `keys`
 * belong to the writes before it. Two equal creates have one key, so a change counts the writes of each key.
 */
const keyOf = ({ n: _, ...write }: Write, keys: readonly string[]) => digestOf(neutral(write, keys));

/** `Normal.keys` of the writes in a file. */
export const keysOf = (writes: readonly Write[]): string[] => {
  const keys: string[] = [];
  for (const write of writes) keys.push(keyOf(write, keys));
  return keys;
};
