// Diff: whether an update is needed, and whether it replaces the record.
import { isUidp, isWithin, type Json } from "../../schema/index.ts";
import { changeOf, desiredFrom } from "../record/desired.ts";
import { placeOfRecord } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { argumentOf, changedSwitches, REPLACE_ON } from "../record/state.ts";
import { isUnknownAt, replacementRefusal } from "./check.ts";
import { lostOutputs } from "./incomplete.ts";

export interface DiffResult {
  changes: boolean;
  replaces: string[];
  /** the new record can be created only after the old one is deleted */
  deleteBeforeReplace?: true;
  /** for the reader of the preview */
  warning?: string;
  /** of an open stack (provider/attribution): the current outputs, which were compared instead of those in the state */
  observed?: Json;
  /** of an open stack: the record is deleted, and another one is created in its place */
  isGone?: true;
}

/**
 * `olds` are the outputs as last observed; `news` are inputs. Access must not be interrupted, so the old record is deleted first only if
 * both cannot exist at once.
 */
export const diff = (kind: Kind, id: string, olds: Json, news: Json): DiffResult => {
  const desired = desiredFrom(kind, news);
  const { args } = desired;
  // Adopting the other record would delete the one that the resource manages.
  if (isUidp(args.adopt) && args.adopt !== id)
    throw new Error(
      `${kind.word} ${id}: adopt names ${args.adopt}, but this resource already manages a record; declare a separate resource for the other one`,
    );
  const { paths, replaces } = changeOf(desired, placeOfRecord(kind, id), olds);
  const lost = lostOutputs(kind, olds);
  const changes =
    paths.length > 0 ||
    replaces.length > 0 ||
    lost.length > 0 ||
    changedSwitches(olds, args).length > 0 ||
    (kind.holdsSecret?.(olds, args) ?? false);
  const asked = [...replacedOnChange(kind, paths, news[REPLACE_ON]), ...lost];
  const canCoexist = replaces.includes("parent") || (kind.unique ?? []).some((field) => paths.includes(field));
  const replacementOf = (fields: readonly string[]): Pick<DiffResult, "replaces" | "deleteBeforeReplace"> => ({
    replaces: [...new Set(fields.map((path) => argumentOf(kind, path)))],
    ...(kind.unique && fields.length > 0 && !canCoexist && { deleteBeforeReplace: true }),
  });
  if (!kind.replacementBreaks || args.allowReplace === true)
    return { changes, ...replacementOf([...replaces, ...asked]) };
  // The check has refused differences from the last inputs; these are differences from the record itself.
  const known = replaces.find((path) => !isUnknownAt(args, path));
  if (known !== undefined) {
    const { field, description } = replacementRefusal(kind, known);
    throw new Error(`${kind.word} ${id}: ${field}: ${description}`);
  }
  const [unknown] = replaces;
  if (unknown === undefined) return { changes, ...replacementOf(asked) };
  // A preview cannot refuse a value that is not known yet: the update may find that it does not change.
  const { field, description } = replacementRefusal(kind, unknown);
  const warning = `${kind.word} ${id}: ${field} is not known yet, and the update refuses a different value: ${description}`;
  return { changes, ...replacementOf(asked), warning };
};

/** The arguments of changed paths that the option replaceOnChanges names, as property paths: `claimMatch.subject`, `*`. */
const replacedOnChange = (kind: Kind, paths: readonly string[], option: unknown): string[] => {
  const names = ((option as string[] | undefined) ?? []).map((name) =>
    name.replaceAll(/\[["']?([^\]"']+)["']?\]/g, ".$1"),
  );
  const isNamed = (path: string) => names.some((name) => name === "*" || isWithin(path, name) || isWithin(name, path));
  const fields = paths.flatMap((path) => {
    const [field, ...rest] = path.split(".") as [string, ...string[]];
    const asWritten = [argumentOf(kind, field), ...rest].join(".");
    return isNamed(path) || isNamed(asWritten) ? [field] : [];
  });
  return [...new Set(fields)];
};
