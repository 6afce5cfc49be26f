// What differs between two records, as paths of the API: both sides in normal form, then an RFC 6902 comparison, cut off
// where a mask cannot go deeper.
import patch from "fast-json-patch";
import type { z } from "zod";
import {
  asMessage,
  type FieldInfo,
  fieldPaths,
  inputFields,
  type Json,
  type Message,
  normalForm,
} from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { settleTexts } from "./given-text.ts";
import { isUnknown } from "./unknown.ts";
import { withSecretsInPlace } from "./write-only.ts";

/** The fields that a caller may set, in normal form; what a preview does not know yet stays as it is. */
export const normal = (schema: Message, value: Json): Json => normalForm(schema, value, isUnknown);

// The schema never changes: its paths are found once for each message.
const pathsOnce = (accepts: (info: FieldInfo) => boolean): ((kind: Kind) => readonly string[]) => {
  const known = new WeakMap<Message, readonly string[]>();
  return ({ schema }) => {
    const paths = known.get(schema) ?? fieldPaths(schema, accepts);
    known.set(schema, paths);
    return paths;
  };
};

const serverChosen = pathsOnce((info) => info.serverChosen === true);
const createOnly = pathsOnce((info) => info.immutable === true || info.createOnly === true);
const volatile = pathsOnce((info) => info.volatile === true);

/** Paths whose value the server chooses for such a record when none is given. */
export const choicesOf = (kind: Kind, record: Json): readonly string[] =>
  kind.choosesFor?.(record) === false ? [] : serverChosen(kind);

/** Paths whose change makes a new record. */
const fixedPaths = (kind: Kind): readonly string[] =>
  kind.operations.update || kind.upsert ? createOnly(kind) : inputFields(kind.schema);

/** An answer, or stored outputs, with all that can be compared with what the program asks for. */
export const observe = (kind: Kind, record: Json): Json => {
  const own = withSecretsInPlace(record);
  return kind.observed?.(own) ?? own;
};

/** The desired record in the spelling of the observed one, where both mean the same. */
export const settle = (kind: Kind, desired: Json, observed: Json): Json => {
  const own = settleTexts(desired, observed);
  return kind.settle?.(own, observed) ?? own;
};

/** The outputs as observed, with the stored value of what changes by itself: it is no drift. */
export const keepVolatile = (kind: Kind, observed: Json, stored: Json): Json => {
  const kept = volatile(kind).flatMap((name) => (stored[name] ? [[name, stored[name]]] : []));
  return kept.length === 0 ? observed : { ...observed, ...Object.fromEntries(kept) };
};

/** Paths in which the two records differ: what a PATCH names in its mask, nested where the field is a message. */
export const changedPaths = (kind: Kind, observed: Json, desired: Json): string[] => {
  const record = observe(kind, observed);
  const before = normal(kind.schema, record);
  const after = normal(kind.schema, settle(kind, desired, record));
  for (const path of choicesOf(kind, desired)) if (!isGiven(desired, path)) forget(before, path.split("."));
  const paths = patch.compare(before, after).map(({ path }) => maskPath(kind.schema, path.split("/").slice(1)));
  return [...new Set(paths)].sort();
};

/** Takes a path out of a record. */
export const forget = (value: Json, [head, ...rest]: string[]): void => {
  if (rest.length === 0) delete value[head as string];
  else if (typeof value[head as string] === "object") forget(value[head as string] as Json, rest);
};

const maskPath = (schema: Message, [name, ...rest]: string[]): string => {
  const message = asMessage(schema.shape[name as string] as z.ZodType);
  return message && rest.length > 0 ? `${name}.${maskPath(message, rest)}` : (name as string);
};

// Given is given, also with the value zero: `verified: false`.
export const isGiven = (desired: Json, path: string): boolean =>
  path.split(".").reduce<unknown>((value, name) => (value as Json | undefined)?.[name], desired) !== undefined;

export interface Change {
  /** paths of the mask */
  paths: string[];
  /** paths of the change that make a new record */
  replaces: string[];
}

/** The change from a record in the group `parent` ("" at the root), as observed, to what the program asks for. */
export const changeOf = (kind: Kind, parent: string, observed: Json, desired: Json): Change => {
  const paths = changedPaths(kind, observed, desired);
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`);
  const replaces = fixedPaths(kind).filter((fixed) => paths.some((path) => isWithin(path, fixed)));
  const moved = parent !== ((desired.parent as string | undefined) ?? "");
  return { paths, replaces: moved ? [desired.parent === undefined ? "root" : "parent", ...replaces] : replaces };
};
