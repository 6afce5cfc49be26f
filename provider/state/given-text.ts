// A value that the service keeps in its own spelling: a program names a built-in role, or a repo by its path, and the record has
// a uid. The state keeps both, and as long as the record has that uid, the text means no change.
import { isUidp, type Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { valueAt, withValueAt } from "./path.ts";
import { isUnknown } from "./unknown.ts";

/** Of outputs: path → the program's text, and the value that the service made of it. */
export const GIVEN = "__given";

interface GivenText {
  text: string;
  value: unknown;
}

const textsOf = (own: Json): Record<string, GivenText> => (own[GIVEN] as Record<string, GivenText> | undefined) ?? {};

/** The fields of an answer for the state; `own` are the arguments, or the outputs so far. */
export const withGivenTexts = (kind: Kind, answer: Json, own: Json): Json => {
  const texts = { ...textsOf(own) };
  for (const path of kind.respelled ?? []) {
    const text = valueAt(own, path);
    const value = valueAt(answer, path);
    if (typeof text === "string" && text !== value && !isUidp(text) && isUidp(value)) texts[path] = { text, value };
  }
  return Object.keys(texts).length === 0 ? answer : { ...answer, [GIVEN]: texts };
};

/** The desired record with the value of the observed one wherever the program gives the text that it came of. */
export const settleTexts = (desired: Json, observed: Json): Json =>
  Object.entries(textsOf(observed)).reduce<Json>((result, [path, { text, value }]) => {
    if (valueAt(result, path) !== text || valueAt(observed, path) !== value) return result;
    return { ...withValueAt(result, path, value), [GIVEN]: { ...textsOf(result), [path]: { text, value } } };
  }, desired);

/** The fields of stored outputs as the program may have given them. */
export const withTexts = (fields: Json, outputs: Json): Json =>
  Object.entries(textsOf(outputs)).reduce<Json>((result, [path, { text, value }]) => {
    return valueAt(result, path) === value ? withValueAt(result, path, text) : result;
  }, fields);

/** The desired record with a uid in the place of a text that was looked up. */
export const withLookedUp = (desired: Json, path: string, text: string, value: string): Json =>
  isUnknown(text)
    ? desired
    : { ...withValueAt(desired, path, value), [GIVEN]: { ...textsOf(desired), [path]: { text, value } } };
