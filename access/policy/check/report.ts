// The reports of the checks of a policy: a path, the mistake, and its correction.
import { type FieldViolation, inputViolations, type Json, type Message } from "../../../schema/index.ts";
import type { Place } from "../source.ts";

export type Path = readonly PropertyKey[];

export interface Report {
  mistake(path: Path, text: string): void;
  /** A mistake in a key, or in something that its value lacks. */
  wrongKey(path: Path, text: string): void;
  /** A possible mistake: the policy is still read. */
  warn(path: Path, text: string): void;
  findPlace(path: Path): Place | undefined;
  /** A scalar as written in the file. */
  writtenAt(path: Path): string;
  /** The names to compare a misspelled one with; empty once the comparisons of this policy would take too long. */
  comparable(text: string, names: ReadonlySet<string> | ReadonlyMap<string, unknown>): readonly string[];
}

/** Characters of misspelled names, times the names that each is compared with: about a second. */
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

interface RecordDraft {
  name?: string;
  was?: string;
  description?: string;
}

interface Named {
  path: Path;
  hasName: boolean;
  shown: string;
  place: Place | undefined;
}

/**
 * Checks records of a kind, whose keys are `keys`, each with its path. Reports fields that the API would refuse, wrong former keys, and
 * records that a reader could not distinguish, at the second record.
 */
export const recordChecker = (report: Report, schema: Message, what: string, keys: Iterable<string>) => {
  const { mistake, wrongKey, findPlace } = report;
  const first = new Map<string, Named>();
  const formerKey = formerKeys(report, new Set(keys));

  const checkName = (group: string, name: string, named: Named) => {
    const key = JSON.stringify([group, name]);
    const known = first.get(key);
    // JavaScript lists numeric keys of an object first, wherever they are.
    const isFirst = known === undefined || isBefore(named.place, known.place);
    if (isFirst) first.set(key, named);
    if (known === undefined) return;
    const [before, second] = isFirst ? [named, known] : [known, named];
    const text = `${what} ${before.shown} has the same name in this group; choose another`;
    if (second.hasName) mistake([...second.path, "name"], text);
    else wrongKey(second.path, text);
  };

  /** `group`: absent if there is no such group. `shown` names the record in the mistakes of others. */
  return (key: string, draft: RecordDraft, path: Path, group: string | undefined, shown = key, further: Json = {}) => {
    const { name = key, description } = draft;
    const [hasName, place] = [draft.name !== undefined, findPlace(path)];
    const violations = checkRecord(report, schema, { name, description, ...further }, path, hasName);
    if (group !== undefined) checkName(group, name, { path, hasName, shown, place });
    return { name, description, was: formerKey(key, draft.was, path), place, violations };
  };
};

/** Reports fields of a record that the API would refuse. The key is the default of the name. */
export const checkRecord = (
  { mistake, wrongKey }: Report,
  schema: Message,
  record: Json,
  path: Path,
  hasName: boolean,
): readonly FieldViolation[] => {
  const violations = inputViolations(schema, record);
  for (const { field, description } of violations) {
    if (field === "description" || (field === "name" && hasName)) mistake([...path, field], description);
    else if (field === "name") wrongKey(path, `${description}; the key is the name unless name is given`);
  }
  return violations;
};

/** A key belongs to one record: the former key of another record cannot be in use. */
const formerKeys = ({ mistake }: Report, keys: ReadonlySet<string>) => {
  const first = new Map<string, string>();
  const problemOf = (key: string, was: string, known: string | undefined) => {
    if (was === "") return "is empty; write the key that it had before";
    if (was === key) return "is its key now; leave was out";
    if (keys.has(was)) return `${was} is the key of another one here, which keeps its own record`;
    return known && `${known} was ${was} too; one record has one key`;
  };
  return (key: string, was: string | undefined, path: Path) => {
    if (was === undefined) return undefined;
    const known = first.get(was);
    first.set(was, known ?? key);
    const problem = problemOf(key, was, known);
    if (problem === undefined) return was;
    mistake([...path, "was"], problem);
    return undefined;
  };
};

const isBefore = (one: Place | undefined, other: Place | undefined) =>
  one !== undefined &&
  one.file === other?.file &&
  (one.line < other.line || (one.line === other.line && one.column < other.column));
