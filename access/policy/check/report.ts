// How the checks of a policy report: a path, what is wrong and what to write instead.
import { type FieldViolation, inputViolations, type Json, type Message } from "../../../schema/index.ts";
import type { Place } from "../source.ts";

export type Path = readonly PropertyKey[];

export interface Report {
  mistake(path: Path, text: string, options?: { atKey?: boolean }): void;
  /** What may be meant: the policy is read all the same. */
  warn(path: Path, text: string): void;
  placeOf(path: Path): Place | undefined;
  /** A scalar as the file has it. */
  writtenAt(path: Path): string;
  /** The names to compare a misspelt one with; none once the comparisons of this policy would take too long. */
  comparable(text: string, names: ReadonlySet<string> | ReadonlyMap<string, unknown>): readonly string[];
}

/** Characters of misspelt names, times the names that each is compared with: about a second. */
const COMPARISONS_MAX = 3_000_000;

export const comparisons = (): Report["comparable"] => {
  let left = COMPARISONS_MAX;
  return (text, names) => {
    const cost = text.length * names.size;
    if (cost > left) return [];
    left -= cost;
    return [...names.keys()];
  };
};

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

/** A key belongs to one record: the former key of another record cannot be in use. */
export const formerKeys = ({ mistake }: Report, keys: ReadonlySet<string>) => {
  const first = new Map<string, string>();
  return (key: string, was: string | undefined, path: Path): string | undefined => {
    if (was === undefined) return undefined;
    const known = first.get(was);
    const problem =
      was === ""
        ? "is empty; write the key that it had before"
        : was === key
          ? "is its key now; leave was out"
          : keys.has(was)
            ? `${was} is the key of another one here, which keeps its own record`
            : known !== undefined
              ? `${known} was ${was} too; one record has one key`
              : undefined;
    first.set(was, known ?? key);
    if (problem === undefined) return was;
    mistake([...path, "was"], problem);
    return undefined;
  };
};

interface Named {
  path: Path;
  hasName: boolean;
  shown: string;
  place: Place | undefined;
}

/** Records that no reader could tell apart: reported at the second. */
export const duplicateFinder = ({ mistake, placeOf }: Report, what: string) => {
  const first = new Map<string, Named>();
  return (group: string, name: string, path: Path, hasName: boolean, shown: string): void => {
    const key = JSON.stringify([group, name]);
    const named: Named = { path, hasName, shown, place: placeOf(path) };
    const known = first.get(key);
    // JavaScript lists the keys of an object that are numbers first, wherever they stand.
    const isFirst = known === undefined || isBefore(named.place, known.place);
    if (isFirst) first.set(key, named);
    if (known === undefined) return;
    const [before, second] = isFirst ? [named, known] : [known, named];
    const text = `${what} ${before.shown} has the same name in this group; choose another`;
    mistake(second.hasName ? [...second.path, "name"] : second.path, text, { atKey: !second.hasName });
  };
};

const isBefore = (one: Place | undefined, other: Place | undefined): boolean =>
  one !== undefined &&
  one.file === other?.file &&
  (one.line < other.line || (one.line === other.line && one.column < other.column));
