// How the checks of a policy report: a path, what is wrong and what to write instead.
import type { FieldViolation, Json, Message } from "../../../schema/index.ts";
import { inputViolations } from "../../../schema/index.ts";
import type { Place } from "../source.ts";

export type Path = readonly PropertyKey[];

export interface Report {
  mistake(path: Path, text: string, options?: { atKey?: boolean }): void;
  placeOf(path: Path): Place | undefined;
}

/** What the API would refuse of a record's own fields. The key is the name where none is given. */
export const checkRecord = (
  { mistake }: Report,
  schema: Message,
  record: Json,
  path: Path,
  hasName: boolean,
): readonly FieldViolation[] => {
  const violations = inputViolations(schema, record);
  for (const { field, description } of violations) {
    if (field === "description") mistake([...path, field], description);
    if (field === "name" && hasName) mistake([...path, field], description);
    else if (field === "name")
      mistake(path, `${description}; the key is the name unless name is given`, { atKey: true });
  }
  return violations;
};

/** Records that no reader could tell apart: reported at the second. */
export const duplicateFinder = ({ mistake }: Report, what: string) => {
  const first = new Map<string, string>();
  return (group: string, name: string, path: Path, hasName: boolean, shown: string): void => {
    const key = JSON.stringify([group, name]);
    const before = first.get(key);
    if (before === undefined) first.set(key, shown);
    else {
      const text = `${what} ${before} has the same name in this group; choose another`;
      mistake(hasName ? [...path, "name"] : path, text, { atKey: !hasName });
    }
  };
};
