// The arguments of a program for a record: the fields that a caller may set and that are set, under the names of the program.
import { z } from "zod";
import {
  argumentsOf,
  asMessage,
  fieldInfo,
  INHERITED,
  inputViolations,
  isObject,
  isRoot,
  type Json,
  type Message,
  normalForm,
  printable,
  resources,
  unwrap,
} from "../../schema/index.ts";
import type { Listed } from "../graph/live-record.ts";
import type { ExportKind } from "./read.ts";
import { type Entry, type ExportOptions, Fields, type Value } from "./value.ts";

/** The fields of a record that a program sets, by the API's names: sets sorted, without empty values. */
export const fieldsOf = (kind: ExportKind, record: Listed): Json => {
  const { schema } = resources[kind];
  return normalForm(schema, READ[kind]?.(record) ?? record);
};

type Reader = (record: Listed) => Json;

const uidIn = (record: Listed, field: string): unknown => (record[field] as Json | undefined)?.uid;

/** Values that the API returns elsewhere, or computes. */
const READ: Partial<Record<ExportKind, Reader>> = {
  // The API never shows the secret of a client. If it did, a program would not be the place for it.
  identityProvider: ({ oidc, ...record }) => ({
    ...record,
    ...(isObject(oidc) && { oidc: { ...oidc, clientSecret: undefined } }),
  }),
  // Groups below an organization return its kind.
  group: (record) => (isRoot(record.uid) ? record : { ...record, kind: undefined }),
  roleBinding: (record) => ({ identityUid: uidIn(record, "identity"), roleUid: uidIn(record, "role") }),
  groupInvite: (record) => ({ ...record, roleUid: uidIn(record, "role") ?? record.roleUid, ttl: ttlOf(record) }),
  // A syncing repo has the tier, bundles, aliases and tags of its source.
  repo: ({ syncConfig, sync_config = syncConfig, ...record }) =>
    sync_config
      ? { ...record, ...Object.fromEntries(INHERITED.map((name) => [name, undefined])), sync_config }
      : record,
};

/** The validity that the invite was created with: the API does not return it. */
const ttlOf = ({ createTime, expirationTime }: Listed) => {
  const ms = Date.parse(String(expirationTime)) - Date.parse(String(createTime));
  return ms > 0 ? `${ms / 1000}s` : undefined;
};

/** Whether an invite has ended. */
const hasEnded = ({ expirationTime }: Json, nowMs: number) =>
  typeof expirationTime === "string" && Date.parse(expirationTime) <= nowMs;

/** The value for the uid of another record. */
type Refer = (type: string, uid: string) => Value;

/** The arguments, with references to other records in place of their uids. */
export const argumentsFrom = (kind: ExportKind, fields: Json, refer: Refer): Fields => {
  const { schema } = resources[kind];
  const names = argumentsOf(schema);
  return new Fields([...readFields(schema, fields, refer)].map(([field, value]) => [names[field] ?? field, value]));
};

const readFields = (schema: Message, fields: Json, refer: Refer) =>
  new Fields(
    Object.entries(fields).map(([name, value]) => {
      const field = schema.shape[name] as z.ZodType;
      return [name, readValue(field, value, refer, fieldInfo(field).references)] as const;
    }),
  );

const readValue = (type: z.ZodType, value: unknown, refer: Refer, references?: string): Value => {
  const inner = unwrap(type);
  if (Array.isArray(value)) {
    const element = inner instanceof z.ZodArray ? (inner.element as z.ZodType) : inner;
    return value.map((item) => readValue(element, item, refer, references));
  }
  if (isObject(value)) {
    const message = asMessage(inner);
    if (message) return readFields(message, value, refer);
    const element = inner instanceof z.ZodRecord ? (inner.valueType as z.ZodType) : inner;
    // The order of a map means nothing.
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return new Map(entries.map(([key, item]) => [key, readValue(element, item, refer, references)]));
  }
  if (references !== undefined) return refer(references, String(value));
  return typeof value === "number" || typeof value === "boolean" ? value : String(value);
};

// Why a program does not declare a record, and the secrets that it needs to declare it.

/** Undefined if the program declares it. */
export const reasonToLeaveOut = (
  kind: ExportKind,
  record: Listed,
  fields: Json,
  { isAdopted, unsayable, nowMs }: ExportOptions,
): string | undefined => {
  if (!isAdopted) {
    if (kind === "groupInvite" && hasEnded(record, nowMs)) return "has ended, and a copy would be good again";
    if (kind === "identity" && hasEnded((record.staticKeys ?? {}) as Json, nowMs))
      return "its keys have ended, and the service takes none that have";
  }
  // Like every argument of a program, the record must follow the rules of the API: a newer service may have others.
  const given = needsSecret(kind, fields)
    ? { ...fields, oidc: { ...(fields.oidc as Json), clientSecret: "-" } }
    : fields;
  const [violation] = inputViolations(resources[kind].schema, given);
  if (violation === undefined && hasPrototype(fields))
    return "has a key __proto__, which a program would leave out without a word";
  if (violation === undefined) return unsayable?.(kind, fields);
  return `cannot be declared: ${printable(`${violation.field} ${violation.description}`)}`;
};

/** The engine's SDK treats such a key as the prototype of the object. */
const hasPrototype = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototype));

/** A client without PKCE has a secret. */
export const needsSecret = (kind: ExportKind, { oidc }: Json): boolean =>
  kind === "identityProvider" && oidc !== undefined && (oidc as Json).pkceEnabled !== true;

/** The place of a secret that the program must set: the argument, and a field in it. */
export const secretPath = ({ kind, args }: Entry): readonly [holder: string, field: string] | undefined => {
  const oidc = args.get("oidc") as ReadonlyMap<string, Value> | undefined;
  return kind === "identityProvider" && oidc && oidc.get("pkceEnabled") !== true ? ["oidc", "clientSecret"] : undefined;
};
