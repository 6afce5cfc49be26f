// From the tree of a policy to the policy: its shape first, then everything else that can be wrong. Reports all mistakes at
// once, in the order of the files.

import type { z } from "zod";
import { suggestion } from "../../schema/nearest.ts";
import { shapeError } from "../../schema/shape.ts";
import { mustBeString } from "../preset/preset.ts";
import { presets } from "../preset/presets.ts";
import { type AccessDraft, checkBindings } from "./check/binding.ts";
import { checkGroups, checkOrganization, type GroupDraft } from "./check/group.ts";
import { checkIdentities, type IdentityDraft } from "./check/identity.ts";
import { comparisons, type Path, type Report } from "./check/report.ts";
import { checkRoles, type RoleDraft } from "./check/role.ts";
import { sourceFromObject } from "./object-source.ts";
import type { Policy } from "./policy.ts";
import { readSource } from "./read-file.ts";
import { PolicyShape, RAW_RELATIONSHIPS } from "./shape.ts";
import { isMap, type Mistake, pathText, placeOf, plainValue, type Source, writtenAt } from "./source.ts";

export interface ParsedPolicy {
  /** absent: there are mistakes */
  policy?: Policy;
  /** in the order of the files */
  mistakes: Mistake[];
  /** the files that were read, the first one first */
  files: string[];
}

/** Reads a file and what it includes. Never throws: a file that cannot be read is a mistake. */
export const readPolicy = (file: string): ParsedPolicy => {
  const { source, mistakes, files } = readSource(file);
  return parsed(source, mistakes, files);
};

/** The same of an object, which has no places and includes nothing. */
export const parsePolicy = (value: unknown): ParsedPolicy => {
  const { source, mistakes } = sourceFromObject(value);
  return parsed(source, mistakes, []);
};

/** `access.yaml:7:13: identities.release.in: there is no group platfrm; did you mean platform?` */
export const mistakeText = ({ path, text, place }: Mistake): string =>
  [...(place ? [`${place.file}:${place.line}:${place.column}`] : []), ...(path === "" ? [] : [path]), text].join(": ");

const parsed = (source: Source | undefined, found: readonly Mistake[], files: string[]): ParsedPolicy => {
  const mistakes = [...found];
  const policy = source && check(source, mistakes);
  return {
    ...(mistakes.length === 0 ? { policy } : {}),
    mistakes: inOrder(mistakes, files),
    files,
  };
};

const inOrder = (mistakes: readonly Mistake[], files: readonly string[]): Mistake[] => {
  const rank = new Map(files.map((file, i) => [file, i]));
  const rankOf = ({ place }: Mistake) => (place ? (rank.get(place.file) ?? files.length) : 0);
  return mistakes.toSorted(
    (a, b) =>
      rankOf(a) - rankOf(b) ||
      (a.place?.line ?? 0) - (b.place?.line ?? 0) ||
      (a.place?.column ?? 0) - (b.place?.column ?? 0),
  );
};

const check = (source: Source, mistakes: Mistake[]): Policy => {
  const report: Report = {
    mistake: (path, text, { atKey } = {}) =>
      mistakes.push({ path: pathText(path), text, place: placeOf(source, path, atKey) }),
    placeOf: (path) => placeOf(source, path, true),
    writtenAt: (path) => writtenAt(source, path),
    comparable: comparisons(),
  };
  const value = plainValue(source);
  const draft = checkShape(value, report);
  const groups = checkGroups(draft.groups, report);
  const { roles, builtIn } = checkRoles(draft.roles, groups, report);
  const identities = checkIdentities(draft.identities, groups, report);
  const known = {
    groups,
    roles,
    builtIn,
    identityKeys: keysOf(source, "identities"),
    roleKeys: keysOf(source, "roles"),
  };
  const bindings = checkBindings(draft.access, known, report);
  return { organization: checkOrganization(draft.organization, report), groups, roles, identities, bindings };
};

const keysOf = (source: Source, section: string): ReadonlySet<string> => {
  const held = isMap(source) ? source.entries.get(section)?.value : undefined;
  return new Set(isMap(held) ? held.entries.keys() : []);
};

interface Draft {
  organization?: unknown;
  groups?: Readonly<Record<string, GroupDraft | null>> | null;
  identities?: Readonly<Record<string, IdentityDraft>> | null;
  roles?: Readonly<Record<string, RoleDraft>> | null;
  access?: AccessDraft | null;
}

// What has the wrong shape is reported and left out, so that the rest can be checked.
const checkShape = (value: unknown, { mistake, writtenAt: written }: Report): Draft => {
  const { error } = PolicyShape.safeParse(value, { error: shapeError, reportInput: true });
  for (const issue of error?.issues ?? []) {
    if (issue.code === "unrecognized_keys")
      for (const key of issue.keys) {
        mistake([...issue.path, key], unknownField(issue.path, key), { atKey: true });
        leaveOut(value, [...issue.path, key]);
      }
    else {
      const unquoted = unquotedIn(issue);
      for (const path of unquoted) mistake(path, mustBeString(written(path)));
      if (unquoted.length === 0) mistake(issue.path, issue.message);
      leaveOut(value, issue.path);
    }
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Draft) : {};
};

/** Where a value needs quotes to be a text. The organization may be a text, or a map of texts. */
const unquotedIn = (issue: z.core.$ZodIssue): Path[] => {
  const { path, input } = issue;
  const takesText = issue.code === "invalid_union" || (issue.code === "invalid_type" && issue.expected === "string");
  if (!takesText) return [];
  if (isUnquoted(input)) return [path];
  if (issue.code !== "invalid_union" || typeof input !== "object" || input === null) return [];
  return Object.entries(input).flatMap(([name, value]) => (isUnquoted(value) ? [[...path, name]] : []));
};

const isUnquoted = (value: unknown): boolean => ["number", "boolean"].includes(typeof value);

const leaveOut = (value: unknown, path: Path): void => {
  const last = path.at(-1);
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((held, step) => (held as Record<PropertyKey, unknown>)?.[step], value);
  if (last === undefined || typeof parent !== "object" || parent === null) return;
  // The other items of a list keep their places.
  if (Array.isArray(parent)) parent[Number(last)] = null;
  else delete (parent as Record<PropertyKey, unknown>)[last];
};

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "": ["include", "organization", "groups", "identities", "roles", "access"],
  organization: ["name", "uid", "description"],
  groups: ["name", "description", "groups"],
  identities: ["in", "name", "description", ...Object.keys(presets), ...RAW_RELATIONSHIPS],
  roles: ["in", "name", "description", "can", "builtIn"],
};

const unknownField = (path: Path, key: string): string => {
  if (path.length === 0 && key === "include") return "is for files; an object holds the whole policy";
  const fields = FIELDS[String(path[0] ?? "")] ?? [];
  return `there is no such field here${suggestion(key, fields) || `; there are ${fields.join(", ")}`}`;
};
