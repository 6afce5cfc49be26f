// Checks the shape of a value that people write, by a schema. Wrong parts are reported and left out, so that the rest can be checked.
import type { z } from "zod";
import { isObject, shapeError } from "../../../schema/json.ts";
import { suggestion } from "../../../schema/nearest.ts";
import { mustBeString } from "../../preset/preset.ts";
import type { PolicyShape } from "../shape.ts";
import type { Path, Report } from "./report.ts";

/** The parts of a value that fit. */
export type Draft<T> = T extends readonly (infer Item)[]
  ? (Draft<Item> | null)[]
  : T extends Readonly<Record<string, infer Value>>
    ? string extends keyof T
      ? Record<string, Draft<Value>>
      : { [K in keyof T]?: Draft<T[K]> }
    : T;

export type PolicyDraft = Draft<z.output<typeof PolicyShape>>;

/** `special` returns the text for a field with its own texts. */
export const checkShape = <S extends z.ZodType>(
  value: unknown,
  shape: S,
  report: Report,
  special: (path: Path, key: string) => string | undefined = () => undefined,
): Draft<z.output<S>> => {
  const { mistake, wrongKey, writtenAt: written } = report;
  const { error } = shape.safeParse(withStandIns(value), { error: issueText, reportInput: true });
  for (const found of error?.issues ?? []) {
    const issue = { ...found, path: found.path.map(nameOf) };
    if (issue.code === "unrecognized_keys")
      for (const key of issue.keys.map(nameOf) as string[]) {
        const fields = [...(issue.path.length === 0 ? ["include"] : []), ...issue.message.split(" ")];
        const near = suggestion(key, fields) || `; there are ${fields.join(", ")}`;
        const text = special(issue.path, key) ?? `there is no such field here${near}`;
        wrongKey([...issue.path, key], text);
        leaveOut(value, [...issue.path, key]);
      }
    else {
      const unquoted = unquotedPaths(issue);
      for (const path of unquoted) mistake(path, mustBeString(written(path)));
      if (unquoted.length === 0) mistake(issue.path, issue.message);
      leaveOut(value, issue.path);
    }
  }
  return (isObject(value) ? value : {}) as Draft<z.output<S>>;
};

/** For an unknown field, the names of the known fields. */
const issueText = (issue: z.core.$ZodRawIssue) =>
  issue.code === "unrecognized_keys" ? Object.keys((issue.inst as z.ZodObject).shape).join(" ") : shapeError(issue);

// zod drops the value of a map under this name.
const PROTO = "__proto__";
const STAND_IN = "\u0000proto";

const withStandIns = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withStandIns);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, held]) => [name === PROTO ? STAND_IN : name, withStandIns(held)]);
  return Object.fromEntries(entries);
};

const nameOf = (step: PropertyKey) => (step === STAND_IN ? PROTO : step);

/** Paths of values that need quotes to be a text. The organization may be a text, or a map of texts. */
const unquotedPaths = (issue: z.core.$ZodIssue): Path[] => {
  const { path, input } = issue;
  const takesText = issue.code === "invalid_union" || (issue.code === "invalid_type" && issue.expected === "string");
  if (!takesText) return [];
  if (isUnquoted(input)) return [path];
  if (issue.code !== "invalid_union" || typeof input !== "object" || input === null) return [];
  return Object.entries(input).flatMap(([name, value]) => (isUnquoted(value) ? [[...path, name]] : []));
};

const isUnquoted = (value: unknown) => ["number", "boolean"].includes(typeof value);

const leaveOut = (value: unknown, path: Path) => {
  const last = path.at(-1);
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((held, step) => (held as Record<PropertyKey, unknown>)?.[step], value);
  if (last === undefined || typeof parent !== "object" || parent === null) return;
  // The other items of a list keep their indexes.
  if (Array.isArray(parent)) parent[Number(last)] = null;
  else delete (parent as Record<PropertyKey, unknown>)[last];
};
