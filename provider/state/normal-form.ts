// A record in normal form: what two records must have in common to be equal.
import { type FieldInfo, fieldPaths, type Json, type Message, normalForm } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { settleTexts } from "./given-text.ts";
import { isUnknown } from "./unknown.ts";
import { withSecretsInPlace } from "./write-only.ts";

/** The fields that a caller may set, in normal form; what a preview does not know yet stays as it is. */
export const normal = (schema: Message, value: Json): Json => normalForm(schema, value, isUnknown);

// The schema never changes: its paths are found once for each message.
export const pathsOnce = (accepts: (info: FieldInfo) => boolean): ((kind: Kind) => readonly string[]) => {
  const known = new WeakMap<Message, readonly string[]>();
  return ({ schema }) => {
    const paths = known.get(schema) ?? fieldPaths(schema, accepts);
    known.set(schema, paths);
    return paths;
  };
};

const serverChosen = pathsOnce((info) => info.serverChosen === true);

/** Paths whose value the server chooses for such a record when none is given. */
export const choicesOf = (kind: Kind, record: Json): readonly string[] =>
  kind.choosesFor?.(record) === false ? [] : serverChosen(kind);

/** An answer, or stored outputs, with all that can be compared with what the program asks for. */
export const observe = (kind: Kind, record: Json): Json => {
  const own = withSecretsInPlace(record);
  return kind.normalizeResponse?.(own) ?? own;
};

/** Arguments in the spelling of the observed record, where both mean the same. */
export const settle = (kind: Kind, args: Json, observed: Json): Json => {
  const own = settleTexts(args, observed);
  return kind.settle?.(own, observed) ?? own;
};

/** Takes a path out of a record. */
export const forget = (value: Json, [head, ...rest]: string[]): void => {
  if (rest.length === 0) delete value[head as string];
  else if (typeof value[head as string] === "object") forget(value[head as string] as Json, rest);
};

/** A zero value is given too: `verified: false`. */
export const isGiven = (desired: Json, path: string): boolean =>
  path.split(".").reduce<unknown>((value, name) => (value as Json | undefined)?.[name], desired) !== undefined;
