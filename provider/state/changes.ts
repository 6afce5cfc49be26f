// What differs between two records, as paths of the API: both sides in one normal form (absent is zero, order of sets and
// maps means nothing, times by instant), then an RFC 6902 comparison, cut off where a mask cannot go deeper.
import patch from "fast-json-patch";
import type { z } from "zod";
import { asMessage, inputFields, isZero, type Json, type Message, scalarInfo } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { isUnknown } from "./unknown.ts";

/** The fields that a caller may set, in normal form. */
export const normal = (schema: Message, value: Json): Json => {
  const fields = inputFields(schema).flatMap((name): [string, unknown][] => {
    const field = schema.shape[name] as z.ZodType;
    const own = value[name];
    return isZero(field, own) ? [] : [[name, isUnknown(own) ? own : normalValue(field, own)]];
  });
  return Object.fromEntries(fields);
};

const normalValue = (field: z.ZodType, value: unknown): unknown => {
  const message = asMessage(field);
  if (message) return normal(message, value as Json);
  if (Array.isArray(value)) return [...new Set(value)].sort();
  if (scalarInfo(field)?.scalar === "timestamp" && !Number.isNaN(Date.parse(value as string)))
    return new Date(value as string).toISOString();
  return value;
};

/** Paths in which the two records differ: what a PATCH names in its mask, nested where the field is a message. */
export const changedPaths = (kind: Kind, observed: Json, desired: Json): string[] => {
  const record = kind.observed?.(observed) ?? observed;
  const before = normal(kind.schema, record);
  const after = normal(kind.schema, kind.settle?.(desired, record) ?? desired);
  for (const path of kind.serverChosen ?? []) if (!isGiven(desired, path)) forget(before, path.split("."));
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
  /** arguments whose change makes a new record */
  replaces: string[];
}

/** The change from a record in the group `parent` ("" at the root), as observed, to what the program asks for. */
export const changeOf = (kind: Kind, parent: string, observed: Json, desired: Json): Change => {
  const paths = changedPaths(kind, observed, desired);
  const fields = new Set(paths.map((path) => path.split(".", 1)[0] as string));
  const replaces = [...fields].filter((field) => kind.replacing?.includes(field));
  const moved = parent !== ((desired.parent as string | undefined) ?? "");
  return { paths, replaces: moved ? [desired.parent === undefined ? "root" : "parent", ...replaces] : replaces };
};
