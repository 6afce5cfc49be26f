// Check: reports all problems of a resource at once, each with its property path, in the API's words. It needs no network, and it
// skips values that a preview does not know yet.
import { z } from "zod";
import { containsUnknown, isUnknown, UNKNOWN } from "../../pulumi/value.ts";
import {
  asMeant,
  asMessage,
  canonicalForm,
  type FieldViolation,
  inputFields,
  inputViolations,
  isUidp,
  type Json,
  type Message,
  suggestion,
  unwrap,
  valueAt,
} from "../../schema/index.ts";
import { isRoleName } from "../kind/names.ts";
import { changeOf, desiredFrom } from "../record/desired.ts";
import type { Kind } from "../record/kind.ts";
import { argumentOf, argumentsIn, givenArguments, isEmpty, shownOnDelete } from "../record/state.ts";

export interface CheckFailure {
  property: string;
  reason: string;
}

/** `olds` and `news` are inputs. The returned inputs are in the API's spelling. `mayReplace`: the group that held the record is deleted. */
export const check = (
  kind: Kind,
  olds: Json,
  news: Json,
  mayReplace = false,
): { inputs: Json; failures: CheckFailure[] } => {
  const inputs = kind.canonicalize(news);
  const problems = inputProblems(kind, inputs);
  const before = argumentsIn(kind, olds);
  const refusals = isEmpty(before) || mayReplace ? [] : refusedReplacements(kind, before, inputs);
  return {
    // One spelling of lists, times and durations, so that another one never shows as a change.
    inputs: { ...canonicalForm(kind.schema, inputs, UNKNOWN), ...shownOnDelete(olds, inputs) },
    failures: [...problems, ...refusals].map(failureFrom),
  };
};

// Other records depend on a uid, so the program must allow a replacement.
const refusedReplacements = (kind: Kind, before: Json, inputs: Json) => {
  if (!kind.replacementBreaks || inputs.allowReplace === true) return [];
  const desired = desiredFrom(kind, inputs);
  const { replaces } = changeOf(desired, (before.parent as string) ?? "", before);
  return replaces.filter((path) => !isUnknownAt(desired.args, path)).map((path) => replacementRefusal(kind, path));
};

export const isUnknownAt = (args: Json, path: string): boolean => containsUnknown(valueAt(args, path));

/** Why an argument must not change if its change would replace the record. */
export const replacementRefusal = (kind: Kind, path: string): FieldViolation => ({
  field: argumentOf(kind, path),
  description: `a change creates a new ${kind.word}: ${kind.replacementBreaks}; set allowReplace: true to allow it`,
});

/** Arguments that are not fields of the API, and the problem of a value. */
export const ownArguments = (kind: Kind): Record<string, (value: unknown) => string | undefined> => ({
  ...(kind.root ? { root: isSwitch } : {}),
  allowReplace: isSwitch,
  ...(kind.texts.allowDuplicate === undefined ? {} : { allowDuplicate: isSwitch }),
  adopt: (value) => (isUidp(value) ? undefined : 'must be "match", or the uid of the record'),
  deleteAdopted: isSwitch,
  ...Object.fromEntries((kind.display ?? []).map((name) => [name, () => undefined])),
  ...(kind.supportsForceDestroy ? { forceDestroy: isSwitch } : {}),
  ...(kind.supportsForceDestroy === "below"
    ? {
        forceDestroyMax: (value) =>
          Number.isInteger(value) && (value as number) > 0
            ? undefined
            : "must be a whole number of records, at least 1",
      }
    : {}),
});

const isSwitch = (value: unknown) => (typeof value === "boolean" ? undefined : "must be true or false");

export const inputProblems = (kind: Kind, bag: Json): FieldViolation[] => {
  const given = argumentsIn(kind, bag);
  const fields = inputFields(kind.schema);
  const own = ownArguments(kind);
  const names = ["parent", ...Object.keys(own), ...fields.map((field) => argumentOf(kind, field))];
  const input = asMeant(kind.schema, given, [...names, ...fields]);
  const ownProblems = Object.entries(own).flatMap(([field, problemOf]) => {
    const value = input[field];
    const description = value === undefined || isUnknown(value) ? undefined : problemOf(value);
    return description ? [{ field, description }] : [];
  });
  const emptiesRoot = input.root === true && input.forceDestroy === true && kind.supportsForceDestroy === "below";
  // The program looks names up (provider/program/names.ts), since a check needs no network.
  const named = kind.byName.filter((field) => isRoleName(input[field]));
  const withoutNames = { ...input, ...Object.fromEntries(named.map((field) => [field, UNKNOWN])) };
  return [
    ...nameProblems(names, givenArguments(bag), "", kind.arguments),
    ...nestedNameProblems(kind.schema, given),
    ...placeProblems(kind, input),
    ...ownProblems,
    ...(emptiesRoot
      ? [{ field: "forceDestroy", description: "is refused on a root group: it would empty an organization" }]
      : []),
    ...[
      ...inputViolations(kind.schema, withoutNames, isUnknown),
      ...kind.violations(input, input.parent).filter(({ field }) => !isUnknown(input[field])),
    ].map(({ field, description }) => {
      const mayBeName = kind.byName.includes(field) && ["string", "undefined"].includes(typeof input[field]);
      const orName = mayBeName ? ", or the name of a built-in role" : "";
      return {
        field: argumentOf(kind, field),
        description: description + orName + suggestedName(kind, input, field),
      };
    }),
  ];
};

/** The nearest valid value for a wrong value, such as the one at `capabilities[1]`. */
const suggestedName = (kind: Kind, input: Json, path: string) => {
  const [, field = "", index] = /^(\w+)\[(\d+)\]$/.exec(path) ?? [];
  const value = index === undefined ? undefined : (input[field] as unknown[])[Number(index)];
  const names = kind.valueNames[field];
  return typeof value === "string" && names ? suggestion(value, names) : "";
};

/** The problems of arguments that form a message: its fields are their names. */
export const messageProblems = (schema: Message, input: Json): CheckFailure[] =>
  [
    ...nameProblems(inputFields(schema), input),
    ...nestedNameProblems(schema, input),
    ...inputViolations(schema, asMeant(schema, input), isUnknown),
  ].map(failureFrom);

export const failureFrom = ({ field, description }: FieldViolation): CheckFailure => ({
  property: field,
  reason: description,
});

const placeProblems = (kind: Kind, { parent, ...input }: Json): FieldViolation[] => {
  const problem = (description: string) => [{ field: "parent", description }];
  const root = kind.root && input.root;
  if (parent === undefined && root === true) return [];
  if (parent === undefined)
    return problem(kind.root ? "parent is required; a new root organization needs root: true" : "parent is required");
  if (root === true) return problem("only one of parent, root may be set");
  if (isUnknown(parent) || isUidp(parent)) return [];
  return problem(
    typeof parent === "string" && isUidp(parent.trim())
      ? "must be a uid without white space around it"
      : "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below",
  );
};

const nestedNameProblems = (schema: Message, input: Json, path = ""): FieldViolation[] =>
  Object.entries(schema.shape).flatMap(([name, field]) => {
    const inner = unwrap(field);
    const isList = inner instanceof z.ZodArray;
    const message = asMessage(isList ? (inner.element as z.ZodType) : inner);
    const value = input[name];
    if (!message || typeof value !== "object" || value === null) return [];
    const held = isList ? Object.entries(value).map(([i, item]) => [`[${i}]`, item]) : [["", value]];
    return held.flatMap(([place, one]) => {
      if (typeof one !== "object" || one === null) return [];
      const below = `${path}${name}${place}.`;
      return [...nameProblems(inputFields(message), one, below), ...nestedNameProblems(message, one, below)];
    });
  });

/** `renamed`: fields of the API that have another name in the program. */
const nameProblems = (
  names: readonly string[],
  input: Json,
  path = "",
  renamed: Kind["arguments"] = {},
): FieldViolation[] =>
  Object.keys(input)
    .filter((name) => !names.includes(name) && input[name] !== undefined)
    .map((name) => ({
      field: path + name,
      description: `unknown argument${suggestion(renamed[name] ?? name, names)}`,
    }));
