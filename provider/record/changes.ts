// What differs between two records, as paths of the API. It compares both in normal form (RFC 6902), as deep as an update mask can
// go.
import patch from "fast-json-patch";
import type { z } from "zod";
import { asMessage, inputFields, isObject, isWithin, type Json, type Message, normalForm } from "../../schema/index.ts";
import { type Desired, withObserved } from "./desired.ts";
import type { Kind } from "./kind.ts";
import { choicesOf, observe, pathsOnce, UNKNOWN, withoutPaths } from "./normal-form.ts";

/** Paths in which a record differs from what the program asks for, as a PATCH names them in its mask. */
export const changedPaths = (desired: Desired, observed: Json): string[] => {
  const { before, after } = sides(desired, observed);
  const paths = patch.compare(before, after).map(({ path }) => maskPath(desired.kind.schema, path.split("/").slice(1)));
  return [...new Set(paths)].sort();
};

const sides = (desired: Desired, observed: Json): { before: Json; after: Json } => {
  const { kind, args, choices } = desired;
  const record = observe(kind, observed);
  const unasked = choicesOf(kind, args).filter((path) => !choices.includes(path));
  return {
    before: withoutPaths(normalForm(kind.schema, record, UNKNOWN), unasked),
    after: withObserved(desired, record).fields,
  };
};

/** A member that differs: an item of a list by its place. */
export interface ChangedMember {
  path: readonly (string | number)[];
  change: "add" | "delete" | "update";
}

/** The same differences, as deep as they go. */
export const changedMembers = (desired: Desired, observed: Json): ChangedMember[] => {
  const { before, after } = sides(desired, observed);
  return membersBetween(before, after, []);
};

const membersBetween = (before: unknown, after: unknown, path: ChangedMember["path"]): ChangedMember[] => {
  if (before === undefined || after === undefined)
    return before === after ? [] : [{ path, change: before === undefined ? "add" : "delete" }];
  if (Array.isArray(before) && Array.isArray(after)) return itemsBetween(before, after, path);
  if (isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      membersBetween(before[name], after[name], [...path, name]),
    );
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, change: "update" }];
};

// By value where that is unambiguous, so that an item in the middle does not show as a change of all that follow it.
const itemsBetween = (before: unknown[], after: unknown[], path: ChangedMember["path"]): ChangedMember[] => {
  const [old, now] = [before.map((item) => JSON.stringify(item)), after.map((item) => JSON.stringify(item))];
  const stay = old.filter((text) => now.includes(text));
  const isSameOrder = JSON.stringify(stay) === JSON.stringify(now.filter((text) => old.includes(text)));
  if (!isSameOrder || [...before, ...after].some(isObject))
    return Array.from({ length: Math.max(old.length, now.length) }, (_, i) =>
      membersBetween(before[i], after[i], [...path, i]),
    ).flat();
  const places = Array.from({ length: Math.max(old.length, now.length) }, (_, i) => i);
  return places.flatMap((i): ChangedMember[] => {
    const isGone = i < old.length && !now.includes(old[i] as string);
    const isNew = i < now.length && !old.includes(now[i] as string);
    if (!isGone && !isNew) return [];
    return [{ path: [...path, i], change: isGone && isNew ? "update" : isNew ? "add" : "delete" }];
  });
};

const maskPath = (schema: Message, [name, ...rest]: string[]): string => {
  const message = asMessage(schema.shape[name as string] as z.ZodType);
  return message && rest.length > 0 ? `${name}.${maskPath(message, rest)}` : (name as string);
};

const createOnly = pathsOnce((info) => info.immutable === true || info.createOnly === true);
const volatile = pathsOnce((info) => info.volatile === true);

/** Paths whose change replaces the record. */
export const fixedPaths = (kind: Kind): readonly string[] =>
  kind.operations.update || kind.upsert ? createOnly(kind) : inputFields(kind.schema);

/** The observed outputs, with the stored values of what changes by itself, which is no drift. */
export const keepVolatile = (kind: Kind, observed: Json, stored: Json): Json => {
  const kept = volatile(kind).flatMap((name) => (stored[name] ? [[name, stored[name]]] : []));
  return kept.length === 0 ? observed : { ...observed, ...Object.fromEntries(kept) };
};

export interface Change {
  /** paths of the mask */
  paths: string[];
  /** paths of the change that replace the record */
  replaces: string[];
}

/** The change from the observed record, in the group `parent` ("" at the root), to what the program asks for. */
export const changeOf = (desired: Desired, parent: string, observed: Json): Change => {
  const { kind, args } = desired;
  const paths = changedPaths(desired, observed);
  const replaces = fixedPaths(kind).filter((fixed) => paths.some((path) => isWithin(path, fixed)));
  const isMoved = parent !== desired.parent;
  return { paths, replaces: isMoved ? [args.parent === undefined ? "root" : "parent", ...replaces] : replaces };
};

/** Why an existing record cannot become what the program asks for. */
export const fixedText = (replaces: readonly string[]): string =>
  `${replaces.join(", ")} cannot be changed on it; declare what it has, or leave adopt out to create another one`;
