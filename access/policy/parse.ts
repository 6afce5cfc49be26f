// Converts the tree of a policy to the policy: checks its shape first, then everything else. Reports all mistakes at once, in the order of
// the files.
import type { z } from "zod";
import { isObject, type Json } from "../../schema/index.ts";
import { shapeError } from "../../schema/json.ts";
import { checkBindings, checkPeople, NO_DEFAULT_ROLE } from "./check/access.ts";
import { checkGroups, checkOrganization } from "./check/group.ts";
import { checkIdentities, checkWorkload } from "./check/identity.ts";
import { comparisons, type Path, type Report } from "./check/report.ts";
import { type BuiltInRoles, checkRoles } from "./check/role.ts";
import { checkShape } from "./check/shape.ts";
import { checkTests } from "./check/test.ts";
import type { Policy } from "./policy.ts";
import { PolicyShape } from "./shape.ts";
import {
  findPlace,
  isMap,
  type Mistake,
  pathText,
  plainValue,
  type Source,
  scalarTextAt,
  sourceFromObject,
} from "./source.ts";
import { type FileSource, type FindFile, readSource } from "./text-file.ts";
import { sourceFromYaml } from "./yaml-source.ts";

// A workload as one text: the map under `workload` in a test of access, in YAML.

/** `{ github: { repository: acme/images, branch: main } }`, or `{ issuer: …, subject: … }`. `name` names the text in mistakes. */
export const workloadFromText = (text: string, name: string): { relationship?: Json; mistakes: Mistake[] } => {
  const { source, mistakes } = sourceFromYaml(text, name);
  const { value, mistakes: found } = checkSource({ source, mistakes, files: [name] }, (own, report) => {
    const map = plainValue(own);
    if (!isObject(map)) {
      report.mistake([], "must be a map, such as { github: { repository: acme/images, branch: main } }");
      return undefined;
    }
    return checkWorkload("issuer" in map || "subject" in map ? { claimMatch: map } : map, [], report);
  });
  return { relationship: value, mistakes: found };
};

export interface ParsedPolicy {
  /** absent: there are mistakes */
  policy?: Policy;
  /** in the order of the files */
  mistakes: Mistake[];
  /** possible mistakes, in the order of the files */
  warnings: Mistake[];
  /** the files that were read, the first one first */
  files: string[];
}

/** Reads a file and its includes. Never throws: an unreadable file is a mistake. */
export const readPolicy = (file: string, find?: FindFile, options: PolicyOptions = {}): ParsedPolicy =>
  parseSource(readSource(file, find), options);

export interface PolicyOptions {
  /** the run that applies it creates the organization; default: false. A policy that names its organization by uid never creates it */
  createsOrganization?: boolean;
  /** the built-in roles that may be named; empty: the service decides, and is asked later */
  builtIn?: readonly BuiltInRoles[];
}

/** Reads an object, which has no places and includes nothing. */
export const parsePolicy = (value: unknown, options: PolicyOptions = {}): ParsedPolicy =>
  parseSource({ ...sourceFromObject(value), files: [] }, options);

/** `access.yaml:7:13: identities.release.in: there is no group platfrm; did you mean platform?` */
export const mistakeText = ({ path, text, place }: Mistake): string =>
  [...(place ? [`${place.file}:${place.line}:${place.column}`] : []), ...(path === "" ? [] : [path]), text].join(": ");

/** A file of one shape: its content, or all problems. `textsOf`: the texts of one problem. */
export const readShape = <S extends z.ZodType>(
  text: string,
  name: string,
  shape: S,
  textsOf = ({ message }: z.core.$ZodIssue) => [message],
): { data?: z.output<S>; problems: string[] } => {
  const { source, mistakes } = sourceFromYaml(text, name);
  if (!source || mistakes.length > 0) return { problems: mistakes.map(mistakeText) };
  const { data, error } = shape.safeParse(plainValue(source), { error: shapeError });
  const problems = (error?.issues ?? []).flatMap((issue) =>
    textsOf(issue).map((one) => [name, pathText(issue.path), one].filter(Boolean).join(": ")),
  );
  return { data, problems };
};

const parseSource = (read: FileSource, options: PolicyOptions): ParsedPolicy => {
  const { value: policy, ...found } = checkSource(read, (source, report) => check(source, report, options));
  return { policy, ...found, files: read.files };
};

/** The result of `check` for a file that was read; absent: there are mistakes, in the order of the files. */
export const checkSource = <T>(
  { source, mistakes: found, files }: FileSource,
  check: (source: Source, report: Report) => T,
): { value?: T; mistakes: Mistake[]; warnings: Mistake[] } => {
  const mistakes = [...found];
  const warnings: Mistake[] = [];
  const value = source && check(source, reportOf(source, mistakes, warnings));
  return {
    value: mistakes.length === 0 ? value : undefined,
    mistakes: inOrder(mistakes, files),
    warnings: inOrder(warnings, files),
  };
};

const reportOf = (source: Source, mistakes: Mistake[], warnings: Mistake[]): Report => {
  const addTo = (list: Mistake[], atKey: boolean) => (path: Path, text: string) =>
    void list.push({ path: pathText(path), text, place: findPlace(source, path, atKey) });
  return {
    mistake: addTo(mistakes, false),
    wrongKey: addTo(mistakes, true),
    warn: addTo(warnings, true),
    findPlace: (path) => findPlace(source, path, true),
    writtenAt: (path) => scalarTextAt(source, path),
    comparable: comparisons(),
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

const check = (
  source: Source,
  report: Report,
  { builtIn = [], createsOrganization = false }: PolicyOptions,
): Policy => {
  const draft = checkShape(plainValue(source), PolicyShape, report, specialText);
  const groups = checkGroups(draft.groups, report);
  const roles = checkRoles(draft.roles, groups, builtIn, report);
  const identities = checkIdentities(draft.identities, groups, report);
  const known = {
    groups,
    roles,
    builtIn,
    identityKeys: keysOf(source, "identities"),
    roleKeys: keysOf(source, "roles"),
  };
  const bindings = checkBindings(draft.access, known, report);
  const tests = checkTests(draft.tests, report);
  const organization = checkOrganization(draft.organization, report);
  const isNew = createsOrganization && organization.uid === undefined;
  const people = checkPeople(draft.people, known, report, isNew);
  return { organization, groups, roles, identities, bindings, people, tests };
};

const keysOf = (source: Source, section: string) => {
  const held = isMap(source) ? source.entries.get(section)?.value : undefined;
  return new Set(isMap(held) ? held.entries.keys() : []);
};

const specialText = (path: Path, key: string) => {
  if (path.length === 0 && key === "include") return "is for files; an object holds the whole policy";
  return path[0] === "people" && key === "defaultRole" ? NO_DEFAULT_ROLE : undefined;
};
