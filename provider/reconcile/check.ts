// Inputs before anything is sent: all that is wrong with a resource at once, each with its property path, in the API's own
// words. No network; what a preview does not know yet is left out.
import {
  asMessage,
  type FieldViolation,
  inputFields,
  inputViolations,
  isUidp,
  type Json,
  type Message,
  suggestion,
} from "../../schema/index.ts";
import { isRoleName } from "../kind/built-in-role.ts";
import type { Kind } from "../kind/kind.ts";
import { argumentOf, desiredFrom, given } from "../state/state.ts";
import { isUnknown, UNKNOWN } from "../state/unknown.ts";

/** Arguments that are not fields of the API, and what may be given. */
const ownArguments = (kind: Kind): Record<string, (value: unknown) => string | undefined> => ({
  ...(kind.root ? { root: isSwitch } : {}),
  allowReplace: isSwitch,
  adopt: (value) => (isUidp(value) ? undefined : 'must be "match", or the uid of the record'),
  deleteAdopted: isSwitch,
  ...Object.fromEntries((kind.display ?? []).map((name) => [name, () => undefined])),
  ...(kind.forceable ? { forceDestroy: isSwitch } : {}),
  ...(kind.forceable === "below"
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
  const input = desiredFrom(kind, bag);
  return [
    ...nameProblems(argumentNames(kind), given(bag)),
    ...nestedNameProblems(kind.schema, input),
    ...placeProblems(kind, input),
    ...ownProblems(kind, input),
    ...[
      ...inputViolations(kind.schema, withoutNames(kind, input), isUnknown),
      ...kind.violations(input, input.parent).filter(({ field }) => !isUnknown(input[field])),
    ].map(({ field, description }) => ({
      field: argumentOf(kind, field),
      description: description + orName(kind, field) + suggestedName(kind, input, field),
    })),
  ];
};

// The program looks names up (role-argument.ts): here there is no network.
const withoutNames = (kind: Kind, input: Json): Json => {
  const named = (kind.byName ?? []).filter((field) => isRoleName(input[field]));
  return { ...input, ...Object.fromEntries(named.map((field) => [field, UNKNOWN])) };
};

const orName = (kind: Kind, field: string): string =>
  kind.byName?.includes(field) ? ", or the name of a built-in role" : "";

/** `capabilities[1]` with the value that stands there: the value that was probably meant. */
const suggestedName = (kind: Kind, input: Json, path: string): string => {
  const [, field = "", index] = /^(\w+)\[(\d+)\]$/.exec(path) ?? [];
  const value = index === undefined ? undefined : (input[field] as unknown[])[Number(index)];
  const names = kind.valueNames?.[field];
  return typeof value === "string" && names ? suggestion(value, names) : "";
};

const argumentNames = (kind: Kind): string[] => [
  "parent",
  ...Object.keys(ownArguments(kind)),
  ...inputFields(kind.schema).map((field) => argumentOf(kind, field)),
];

const placeProblems = (kind: Kind, { parent, ...input }: Json): FieldViolation[] => {
  const problem = (description: string) => [{ field: "parent", description }];
  const root = kind.root && input.root;
  if (parent === undefined && root === true) return [];
  if (parent === undefined)
    return problem(kind.root ? "parent is required; a new root organisation needs root: true" : "parent is required");
  if (root === true) return problem("only one of parent, root may be set");
  if (isUnknown(parent) || isUidp(parent)) return [];
  return problem(
    typeof parent === "string" && isUidp(parent.trim())
      ? "must be a uid without white space around it"
      : "must be a uid: 40 hexadecimal digits, then /16 for each level below",
  );
};

const ownProblems = (kind: Kind, input: Json): FieldViolation[] => {
  const wrong = Object.entries(ownArguments(kind)).flatMap(([field, problemOf]) => {
    const value = input[field];
    const description = value === undefined || isUnknown(value) ? undefined : problemOf(value);
    return description ? [{ field, description }] : [];
  });
  if (input.root !== true || input.forceDestroy !== true || kind.forceable !== "below") return wrong;
  return [
    ...wrong,
    { field: "forceDestroy", description: "is refused on a root group: it would empty an organisation" },
  ];
};

const nestedNameProblems = (schema: Message, input: Json, path = ""): FieldViolation[] =>
  Object.entries(schema.shape).flatMap(([name, field]) => {
    const message = asMessage(field);
    const value = input[name];
    if (!message || typeof value !== "object" || value === null) return [];
    const below = path + name;
    return [
      ...nameProblems(inputFields(message), value as Json, `${below}.`),
      ...nestedNameProblems(message, value as Json, `${below}.`),
    ];
  });

const nameProblems = (names: readonly string[], input: Json, path = ""): FieldViolation[] =>
  Object.keys(input)
    .filter((name) => !names.includes(name) && input[name] !== undefined)
    .map((name) => ({ field: path + name, description: `is no argument${suggestion(name, names)}` }));
