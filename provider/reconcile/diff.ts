// The one loop: check, diff, create, read, update, delete of any kind. It knows nothing of Pulumi: dynamic resources are one
// thin adapter over it, a native plugin would be another.
import { isUidp, type Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { placeOf } from "../kind/record.ts";
import { changeOf } from "../state/changes.ts";
import {
  argumentOf,
  desiredFrom,
  REPLACE_ON,
  shownOnDelete,
  spelt,
  switchesDiffer,
  withOrderedLists,
} from "../state/state.ts";
import { containsUnknown } from "../state/unknown.ts";
import { valueAt } from "../state/write-only.ts";
import { inputProblems } from "./check.ts";
import { neverSeen } from "./shown-once.ts";

export { create } from "./create.ts";
export { remove } from "./delete.ts";
export { type ReadResult, read } from "./read.ts";
export { update } from "./update.ts";

export interface CheckFailure {
  property: string;
  reason: string;
}

/** `olds` and `news` are inputs. The inputs that come back are in the API's spelling. */
export const check = (kind: Kind, olds: Json, news: Json): { inputs: Json; failures: CheckFailure[] } => {
  const inputs = spelt(kind, news);
  const problems = inputProblems(kind, inputs);
  const before = desiredFrom(kind, olds);
  const refusals = Object.keys(before).length === 0 ? [] : refusedReplacements(kind, before, desiredFrom(kind, inputs));
  return {
    inputs: { ...withOrderedLists(kind, inputs), ...shownOnDelete(olds, inputs) },
    failures: [...problems, ...refusals].map(({ field, description }) => ({ property: field, reason: description })),
  };
};

// Access outlives mistakes: other records depend on a uid, so that a new one must be asked for.
const refusedReplacements = (kind: Kind, before: Json, desired: Json) => {
  if (!kind.replacementBreaks || desired.allowReplace === true) return [];
  const { replaces } = changeOf(kind, (before.parent as string) ?? "", before, desired);
  return replaces.filter((path) => !isUnknownAt(desired, path)).map((path) => refusal(kind, path));
};

const isUnknownAt = (desired: Json, path: string): boolean => containsUnknown(valueAt(desired, path.split(".")));

const refusal = (kind: Kind, path: string) => ({
  field: argumentOf(kind, path),
  description: `a change makes a new ${kind.word}: ${kind.replacementBreaks}; set allowReplace: true if that is meant`,
});

export interface DiffResult {
  changes: boolean;
  replaces: string[];
  /** the new record can be made only when the old one is gone */
  deleteBeforeReplace?: true;
  /** for the person who reads the preview */
  warning?: string;
}

/**
 * `olds` are outputs, as observed last; `news` are inputs. Access must not be interrupted: it asks to delete first only where two
 * records cannot be there at once.
 */
export const diff = (kind: Kind, id: string, olds: Json, news: Json): DiffResult => {
  const desired = desiredFrom(kind, news);
  if (isUidp(desired.adopt) && desired.adopt !== id) throw adoptsAnother(kind, id, desired.adopt);
  const { paths, replaces } = changeOf(kind, placeOf(kind, id), olds, desired);
  const unseen = neverSeen(kind, olds);
  const changes =
    paths.length > 0 ||
    replaces.length > 0 ||
    unseen.length > 0 ||
    switchesDiffer(olds, desired) ||
    (kind.holdsSecret?.(olds, desired) ?? false);
  const asked = [...replacedOnChange(kind, paths, news[REPLACE_ON]), ...unseen];
  const isBesides = replaces.includes("parent") || (kind.unique ?? []).some((field) => paths.includes(field));
  const replaced = (fields: readonly string[]): Pick<DiffResult, "replaces" | "deleteBeforeReplace"> => ({
    replaces: [...new Set(fields.map((path) => argumentOf(kind, path)))],
    ...(kind.unique && fields.length > 0 && !isBesides && { deleteBeforeReplace: true }),
  });
  if (!kind.replacementBreaks || desired.allowReplace === true)
    return { changes, ...replaced([...replaces, ...asked]) };
  // check has refused already what differs from the last inputs; this is what differs from the record itself.
  const sure = replaces.find((path) => !isUnknownAt(desired, path));
  if (sure !== undefined) {
    const { field, description } = refusal(kind, sure);
    throw new Error(`${kind.word} ${id}: ${field}: ${description}`);
  }
  const [open] = replaces;
  if (open === undefined) return { changes, ...replaced(asked) };
  // Not known before the update: it may turn out to be what it was, so that a preview cannot refuse.
  const { field, description } = refusal(kind, open);
  const warning = `${kind.word} ${id}: ${field} is not known yet, and the update refuses another one: ${description}`;
  return { changes, ...replaced(asked), warning };
};

/** The arguments of changed paths that the option replaceOnChanges names, as property paths: `claimMatch.subject`, `*`. */
const replacedOnChange = (kind: Kind, paths: readonly string[], option: unknown): string[] => {
  const names = ((option as string[] | undefined) ?? []).map((name) =>
    name.replaceAll(/\[["']?([^\]"']+)["']?\]/g, ".$1"),
  );
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`);
  const isNamed = (path: string) => names.some((name) => name === "*" || isWithin(path, name) || isWithin(name, path));
  const fields = paths.flatMap((path) => {
    const [field, ...rest] = path.split(".") as [string, ...string[]];
    const asWritten = [argumentOf(kind, field), ...rest].join(".");
    return isNamed(path) || isNamed(asWritten) ? [field] : [];
  });
  return [...new Set(fields)];
};

// To give a resource another record would delete the one that it has.
const adoptsAnother = (kind: Kind, id: string, other: string): Error =>
  new Error(
    `${kind.word} ${id}: adopt names ${other}, and this resource has a record already; give the other one a resource of its own`,
  );
