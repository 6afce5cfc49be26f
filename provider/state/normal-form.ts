// A record in normal form: what two records must have in common to be equal.
import { type Json, type Message, normalForm } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { settleTexts } from "./given-text.ts";
import { pathsOnce } from "./path.ts";
import { isUnknown } from "./unknown.ts";
import { withSecretsInPlace } from "./write-only.ts";

/** The fields that a caller may set, in normal form; what a preview does not know yet stays as it is. */
export const normal = (schema: Message, value: Json): Json => normalForm(schema, value, isUnknown);

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
