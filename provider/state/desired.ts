// A hash of what a create asks for: the same for the record that came of it, whatever the server added. The journal holds it
// instead of the inputs, which are nobody's business on that disk.
import { createHash } from "node:crypto";
import type { Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { choicesOf, forget, isGiven, normal, observe } from "./changes.ts";
import { writeOnlyFields } from "./write-only.ts";

/** Paths that the server chooses when nothing is given, and that `desired` gives. */
export const givenChoices = (kind: Kind, desired: Json): string[] =>
  choicesOf(kind, desired).filter((path) => isGiven(desired, path));

/** Of inputs or of a record; `choices` are the paths of the server's choice that count. */
export const fingerprint = (kind: Kind, parent: string, record: Json, choices: readonly string[]): string => {
  const fields = normal(kind.schema, observe(kind, record));
  for (const path of choicesOf(kind, fields)) if (!choices.includes(path)) forget(fields, path.split("."));
  // What no record tells, and what one tells in another spelling.
  for (const { path } of writeOnlyFields(kind.schema)) forget(fields, [...path]);
  for (const path of kind.respelled ?? []) forget(fields, path.split("."));
  return createHash("sha256")
    .update(JSON.stringify(sorted([kind.type, parent, fields])))
    .digest("hex");
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};
