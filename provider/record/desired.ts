// The desired state of one record. Reconcile computes it once, on entry, in normal form.

import { createHash } from "node:crypto";
import patch from "fast-json-patch";
import type { z } from "zod";
import { UNKNOWN } from "../../pulumi/value.ts";
import {
  asMessage,
  inputFields,
  isObject,
  isWithin,
  type Json,
  type Message,
  normalForm,
  valueAt,
} from "../../schema/index.ts";
import type { Kind, LookUpSession } from "./kind.ts";
import { choicesOf, observe, pathsOnce, resolveNames, withoutPaths, writeOnlyPaths } from "./normal-form.ts";
import { argumentsIn, hiddenMembers, KEY } from "./state.ts";

export interface Desired {
  kind: Kind;
  /** of the resource: organization/project/stack/type::name */
  key: string;
  /** uid of the group that holds the record; "" at the root */
  parent: string;
  /** arguments by the API's names, including our own (`adopt`, `forceDestroy`) */
  args: Json;
  /** fields that a request carries, in normal form */
  fields: Json;
  /** paths with values from the program, for which the server would otherwise choose a value */
  choices: readonly string[];
  /** equal to the fingerprint of the record that a create with these fields produces; computed when it is asked for */
  readonly fingerprint: string;
  /** members of the bag that are not arguments */
  hidden: Json;
}

/** The desired record, from the bag of arguments that the engine keeps. */
export const desiredFrom = (kind: Kind, bag: Json): Desired =>
  desiredWith(kind, argumentsIn(kind, bag), hiddenMembers(bag));

export const desiredWith = (kind: Kind, args: Json, own: Json = {}): Desired => {
  const parent = (args.parent as string | undefined) ?? "";
  const fields = normalForm(kind.schema, args, UNKNOWN);
  // A zero value counts as given: `verified: false`.
  const choices = choicesOf(kind, args).filter((path) => valueAt(args, path) !== undefined);
  return {
    kind,
    key: own[KEY] as string,
    parent,
    args,
    fields,
    choices,
    hidden: own,
    get fingerprint() {
      return fingerprintOf(kind, parent, fields, choices);
    },
  };
};

/** Resolves the names that the program gives to uids. */
export const withUids = async (session: LookUpSession, desired: Desired): Promise<Desired> => {
  const { kind, args } = desired;
  return withArgs(desired, (await kind.resolve?.(session, args)) ?? args);
};

/** The desired record in the spelling of an observed record if both mean the same: with its uids for the program's names. */
export const withObserved = (desired: Desired, observed: Json): Desired =>
  withArgs(desired, resolveNames(desired.kind, desired.args, observed));

export const withArgs = (desired: Desired, args: Json): Desired =>
  args === desired.args ? desired : desiredWith(desired.kind, args, desired.hidden);

/**
 * SHA-256 of a record's content: equal for two records with the same kind, parent and fields. Of the paths whose value the server may
 * choose, only those in `choices` count. The journal stores it instead of the fields.
 */
export const fingerprintOf = (kind: Kind, parent: string, record: Json, choices: readonly string[]): string => {
  const fields = normalForm(kind.schema, observe(kind, record), UNKNOWN);
  const unasked = choicesOf(kind, fields).filter((path) => !choices.includes(path));
  // Fields that no response returns, or returns in another spelling, do not count either.
  const counted = withoutPaths(fields, [...unasked, ...writeOnlyPaths(kind), ...kind.respelled]);
  const text = JSON.stringify([kind.type, parent, counted], (_, value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
  return createHash("sha256").update(text).digest("hex");
};

// The differences between two records, as paths of the API. It compares both in normal form (RFC 6902), as deep as an update mask can go.

/** Paths in which a record differs from the desired one, as a PATCH names them in its mask. */
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

/** The differences at full depth. */
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

// By value if that is unambiguous, so that an item in the middle does not show as a change of all later items.
const itemsBetween = (before: unknown[], after: unknown[], path: ChangedMember["path"]): ChangedMember[] => {
  const [old, now] = [before.map((item) => JSON.stringify(item)), after.map((item) => JSON.stringify(item))];
  const stay = old.filter((text) => now.includes(text));
  const isSameOrder = JSON.stringify(stay) === JSON.stringify(now.filter((text) => old.includes(text)));
  const places = Array.from({ length: Math.max(old.length, now.length) }, (_, i) => i);
  if (!isSameOrder || [...before, ...after].some(isObject))
    return places.flatMap((i) => membersBetween(before[i], after[i], [...path, i]));
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

/** The observed outputs, with the stored values of fields that change by themselves, since such changes are not drift. */
export const keepVolatile = (kind: Kind, observed: Json, stored: Json): Json => {
  const kept = volatile(kind).flatMap((name) => (stored[name] ? [[name, stored[name]]] : []));
  return kept.length === 0 ? observed : { ...observed, ...Object.fromEntries(kept) };
};

interface Change {
  /** paths of the mask */
  paths: string[];
  /** paths of the change that replace the record */
  replaces: string[];
}

/** The change from the observed record, in the group `parent` ("" at the root), to the desired record. */
export const changeOf = (desired: Desired, parent: string, observed: Json): Change => {
  const { kind, args } = desired;
  const paths = changedPaths(desired, observed);
  const replaces = fixedPaths(kind).filter((fixed) => paths.some((path) => isWithin(path, fixed)));
  const isMoved = parent !== desired.parent;
  return { paths, replaces: isMoved ? [args.parent === undefined ? "root" : "parent", ...replaces] : replaces };
};

/** Why an existing record cannot become the desired one. */
export const fixedText = (replaces: readonly string[]): string =>
  `${replaces.join(", ")} cannot be changed on it; declare what it has, or leave adopt out to create another one`;
