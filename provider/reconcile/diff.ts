// The one loop: check, diff, create, read, update, delete of any kind. It knows nothing of Pulumi: dynamic resources are one
// thin adapter over it, a native plugin would be another.
import { isUidp, type Json, parentOf } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
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
import { inputProblems } from "./check.ts";

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
  return replaces.filter((field) => !containsUnknown(desired[field])).map((field) => refusal(kind, field));
};

const refusal = (kind: Kind, field: string) => ({
  field,
  description: `a change makes a new ${kind.word}: ${kind.replacementBreaks}; set allowReplace: true if that is meant`,
});

export interface DiffResult {
  changes: boolean;
  replaces: string[];
  /** for the person who reads the preview */
  warning?: string;
}

/** `olds` are outputs, as observed last; `news` are inputs. Never asks to delete first: access must not be interrupted. */
export const diff = (kind: Kind, id: string, olds: Json, news: Json): DiffResult => {
  const desired = desiredFrom(kind, news);
  if (isUidp(desired.adopt) && desired.adopt !== id) throw adoptsAnother(kind, id, desired.adopt);
  const { paths, replaces } = changeOf(kind, parentOf(id), olds, desired);
  const changes =
    paths.length > 0 ||
    replaces.length > 0 ||
    switchesDiffer(olds, desired) ||
    (kind.holdsSecret?.(olds, desired) ?? false);
  const asked = replacedOnChange(kind, paths, news[REPLACE_ON]);
  if (!kind.replacementBreaks || desired.allowReplace === true)
    return { changes, replaces: [...new Set([...replaces, ...asked.map((field) => argumentOf(kind, field))])] };
  // check has refused already what differs from the last inputs; this is what differs from the record itself.
  const sure = replaces.find((field) => !containsUnknown(desired[field]));
  if (sure !== undefined) throw new Error(`${kind.word} ${id}: ${sure}: ${refusal(kind, sure).description}`);
  const [open] = replaces;
  if (open === undefined) return { changes, replaces: asked };
  // Not known before the update: it may turn out to be what it was, so that a preview cannot refuse.
  const warning = `${kind.word} ${id}: ${open} is not known yet, and the update refuses another one: ${refusal(kind, open).description}`;
  return { changes, replaces: asked, warning };
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
