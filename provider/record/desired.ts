// What the program asks for, of one record. Reconcile computes it once, on entry, in normal form.
import { createHash } from "node:crypto";
import { isObject, type Json, normalForm, valueAt } from "../../schema/index.ts";
import type { Kind, LookUpSession } from "./kind.ts";
import { choicesOf, observe, resolveNames, UNKNOWN, withoutPaths, writeOnlyPaths } from "./normal-form.ts";
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
  /** paths that the program gives, and for which the server would otherwise choose a value */
  choices: readonly string[];
  /** equal to the fingerprint of the record that a create with these fields produces; computed when it is asked for */
  readonly fingerprint: string;
  /** members of the bag that are not arguments */
  hidden: Json;
}

/** What the bag of arguments that the engine keeps asks for. */
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

/** In the spelling of an observed record where both mean the same: with its uids for the names that the program gives. */
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
  // Nor do fields count that no response returns, or returns in another spelling.
  const counted = withoutPaths(fields, [...unasked, ...writeOnlyPaths(kind), ...(kind.respelled ?? [])]);
  const text = JSON.stringify([kind.type, parent, counted], (_, value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
  return createHash("sha256").update(text).digest("hex");
};
