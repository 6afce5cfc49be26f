// Before a write that gives access, the gate reads again the records that decide this access, unless it did so a moment ago. Someone may have
// changed them since the review was repeated.
import { isDeepStrictEqual } from "node:util";
import type { Client } from "../client/client.ts";
import {
  applyMask,
  type FieldInfo,
  fieldPaths,
  isApiError,
  type Json,
  normalForm,
  printable,
  type RequestOf,
  type Resource,
  resources,
  valueAt,
} from "../schema/index.ts";
import type { Resolved } from "./resolved.ts";

const MAX_AGE_MS = 10_000;

/** Kinds that decide the access by a binding, and its holder. */
const DECIDING: readonly Resource[] = [resources.role, resources.identity];

/** Only people read it: no decision uses it. */
const IGNORED = ["description"];

interface Expected {
  resource: Resource;
  record: Json;
  /** An update was sent, and its outcome is unknown: the record may look like this. */
  maybe: Json[];
  /** by the client's clock */
  readAt: number;
  reading?: Promise<string | undefined>;
}

interface Parts {
  reader: Pick<Client, "call" | "clock">;
  /** age of the copy */
  ageMs: number;
  /** as the copy lists them; without records that are only named, of which the copy knows no more */
  listed: readonly (readonly [plural: string, record: Json])[];
  recordOf(plural: string, uid: string): Json | undefined;
  /** an update of the record that is under way */
  underWay(uid: string): Promise<unknown> | undefined;
}

export const freshOn = ({ reader, ageMs, listed, recordOf, underWay }: Parts) => {
  const { clock } = reader;
  const expected = new Map<string, Expected>();
  /** Records a role or an identity as it is from now on. */
  const note = (resource: Resource, record: Json, readAt = clock.now()): void => {
    if (DECIDING.includes(resource)) expected.set(record.uid as string, { resource, record, readAt, maybe: [] });
  };
  for (const [plural, record] of listed) {
    const resource = DECIDING.find((one) => one.plural === plural);
    if (resource) note(resource, record, clock.now() - ageMs);
  }

  const compareAgain = async (uid: string, one: Expected): Promise<string | undefined> => {
    const { resource, record } = one;
    const readAt = clock.now();
    const { get } = resource.operations;
    try {
      const live = (await reader.call(get as "GetRole", { uid } as RequestOf<"GetRole">)) as Json;
      const differs = [record, ...one.maybe]
        .map((as) => differingFields(resource, as, live))
        .sort((a, b) => a.length - b.length)[0] as string[];
      if (differs.length > 0) await underWay(uid)?.catch(() => {});
      // A write of this change was answered meanwhile.
      if (expected.get(uid) !== one) return await problemOf(uid);
      one.readAt = readAt;
      return differs.length === 0 ? undefined : changedText(resource, record, `has another ${differs.join(", ")} now`);
    } catch (error) {
      if (isApiError(error, "NOT_FOUND")) return changedText(resource, record, "is gone");
      throw error;
    }
  };

  const problemOf = async (uid: string): Promise<string | undefined> => {
    const one = expected.get(uid);
    if (one === undefined || clock.now() - one.readAt <= MAX_AGE_MS) return undefined;
    one.reading ??= compareAgain(uid, one).finally(() => {
      delete one.reading;
    });
    return one.reading;
  };

  return {
    note,
    /** An update whose outcome is unknown. */
    noteUnknown: ({ method: { schema }, uid = "", fields, mask }: Resolved): void => {
      const one = expected.get(uid);
      if (one) one.maybe.push(...[one.record, ...one.maybe].map((as) => applyMask(schema, as, fields, [...mask])));
    },
    /** The problem that makes the access by the write uncertain; undefined without one. Throws the errors of the API. */
    problem: async (write: Resolved): Promise<string | undefined> => {
      const problems = await Promise.all(decidingIn(write, recordOf).map(problemOf));
      return problems.find((problem) => problem !== undefined);
    },
  };
};

/** uids of the roles and identities that decide the access by the write. */
const decidingIn = ({ method, uid, fields }: Resolved, recordOf: Parts["recordOf"]): string[] => {
  const { verb, resource, schema } = method;
  if (verb === "delete") return [];
  const types: readonly string[] = DECIDING.map(({ type }) => type);
  const infos: FieldInfo[] = [];
  const paths = fieldPaths(
    schema,
    (info) => info.references !== undefined && types.includes(info.references) && infos.push(info) > 0,
  );
  // An update of a part of a binding does not name the other part.
  const before = uid === undefined ? undefined : recordOf(resource.plural, uid);
  const named = paths.flatMap(
    (path, i) => valueAt(fields, path) ?? valueAt(before, path) ?? valueAt(before, infos[i]?.answeredAs ?? ""),
  );
  const own = uid !== undefined && DECIDING.includes(resource) ? [uid] : [];
  return [...new Set([...own, ...named])].filter((one) => typeof one === "string");
};

/** Fields that a caller may set and that both records show: an answer contains no secret. */
const differingFields = ({ schema }: Resource, expected: Json, live: Json) => {
  const [before, now] = [expected, live].map((record) => normalForm(schema, record)) as [Json, Json];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((name) => !IGNORED.includes(name));
  return names.filter((name) => !isDeepStrictEqual(before[name], now[name]));
};

const changedText = ({ word }: Resource, { uid, name }: Json, what: string) =>
  `${word} ${uid} "${printable(String(name))}" ${what}: somebody has changed it since the change was computed again`;
