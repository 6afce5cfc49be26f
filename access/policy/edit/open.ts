// A policy that is about to be edited: the text and the content of its files, and the uids beside it.
import type { RoleBundles } from "../../../schema/index.ts";
import { mistakeText, readPolicy } from "../parse.ts";
import { mappingsOf, type Policy, ROOT } from "../policy.ts";
import { isMap, type Source } from "../source.ts";
import type { PolicyStack } from "../stack.ts";
import { type FindFile, findTextFile, TextFileError } from "../text-file.ts";
import { type UidsFile, uidsBeside } from "../uids.ts";
import { sourceFromYaml } from "../yaml-source.ts";
import { type ChangedFile, PolicyEditError, replaceFiles } from "./document.ts";

/** The files of a policy without mistakes, as they were read. */
export interface OpenPolicy {
  file: string;
  policy: Policy;
  /** by path without links */
  texts: ReadonlyMap<string, { name: string; text: string }>;
  /** the file beside it with the uids of its records, if there is one */
  adopted?: UidsFile;
}

/** Throws a PolicyEditError with every mistake of the policy, and of the uids beside it. */
export const openPolicy = (file: string): OpenPolicy => {
  const texts = new Map<string, { name: string; text: string }>();
  const find: FindFile = (name, folder) => {
    const { real, read } = findTextFile(name, folder);
    return {
      real,
      read: () => {
        const text = read();
        texts.set(real, { name, text });
        return text;
      },
    };
  };
  const { policy, mistakes } = readPolicy(file, find);
  if (policy === undefined) throw new PolicyEditError(mistakes.map(mistakeText).join("\n"));
  return { file, policy, texts, ...adoptedBeside(file) };
};

const adoptedBeside = (file: string): Pick<OpenPolicy, "adopted"> => {
  try {
    const adopted = uidsBeside(file);
    return adopted ? { adopted } : {};
  } catch (error) {
    throw error instanceof TextFileError ? new PolicyEditError(error.message) : error;
  }
};

/** The records that the uids beside a policy name; undefined without them. */
export const stackOf = ({ adopted }: OpenPolicy): PolicyStack | undefined => adopted?.uids;

/** The changes of an edit. Nothing is written yet. */
export interface PolicyEdit {
  /** entries that are removed or new: `access.platform.editor: release`, `identities.release` */
  entries: readonly string[];
  files: readonly ChangedFile[];
}

/** Writes the files. Throws a PolicyEditError if one cannot be written, or has changed since it was read. */
export const applyEdit = ({ files }: PolicyEdit): void => replaceFiles(files);

/** Throws a PolicyEditError unless the changed files are equivalent to `expected`. */
export const checkResult = (opened: OpenPolicy, files: readonly ChangedFile[], expected: Policy): void => {
  const { file } = opened;
  const builtIn = [{ roles: builtInRolesIn(expected, opened.policy) }];
  const { policy: result, mistakes } = readPolicy(file, findIn(opened, files), { builtIn });
  const [mistake] = mistakes;
  if (mistake) throw new PolicyEditError(`after that, ${mistakeText(mistake)}`);
  if (result === undefined || meaningOf(result) !== meaningOf(expected))
    throw new PolicyEditError(`${file} would say something else than before; edit it by hand`);
};

/** The built-in roles that a policy names, without keys of `before`: a removed role must not be taken for a built-in one. */
const builtInRolesIn = (policy: Policy, before: Policy): RoleBundles => {
  const names = [...policy.bindings, ...mappingsOf(policy)].map(({ role }) => role);
  return Object.fromEntries(
    names.filter((name) => !policy.roles.has(name) && !before.roles.has(name)).map((name) => [name, []]),
  );
};

/** Finds the files as they were read, or with their changes. */
export const findIn = ({ texts }: OpenPolicy, files: readonly ChangedFile[] = []): FindFile => {
  const after = new Map(files.map((one) => [one.real, one.after]));
  return (name, folder) => {
    const { real, read } = findTextFile(name, folder);
    return { real, read: () => after.get(real) ?? texts.get(real)?.text ?? read() };
  };
};

/** The policy without its places, which move, and without its order, which means nothing. */
const meaningOf = ({ tests, ...policy }: Policy) =>
  JSON.stringify({ ...policy, tests }, (key, value) => {
    if (key === "place" && typeof value?.line === "number") return undefined;
    if (key === "bindings" && Array.isArray(value))
      return value.map((one) => JSON.stringify({ ...one, place: undefined })).sort();
    return value instanceof Map ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value;
  });

/** The text for a path of keys: `access.platform.editor: release`. */
export const entryText = ([section, ...rest]: readonly string[]): string =>
  section === "access" ? `access.${rest[0]}.${rest[1]}: ${rest[2]}` : `${section}.${rest.join(".")}`;

// The file of a policy for a new entry: the one with the entries of its group. So a policy that is split by group, or by section,
// stays split.

/** Sections that entries are added to. */
const SECTIONS = ["groups", "identities", "roles", "access"] as const;
export type Section = (typeof SECTIONS)[number];

interface File {
  /** path without links */
  real: string;
  /** by section, the paths of the groups that contain its entries; for groups, their own */
  paths: ReadonlyMap<Section, readonly string[]>;
  /** the only group below the organization in the file; undefined: it is the first file, or contains several */
  own: string | undefined;
}

/** Returns the path, without links, of the file for an entry. `path` is the path of its group; for a group, its own. */
export const homesIn = ({ texts }: OpenPolicy): ((section: Section, path: string, role?: string) => string) => {
  const sources = [...texts].map(([real, { name, text }]) => ({ real, source: sourceFromYaml(text, name).source }));
  const files = sources.map(({ real, source }, i) => fileOf(real, source, i === 0));
  const rows = new Map(sources.map(({ real, source }) => [real, at(source, "access")]));
  return (section, path, role) => {
    const top = path === ROOT ? undefined : path.split("/")[0];
    const places = files.filter(({ own }) => own === undefined || own === top);
    const scoreOf = ({ real, paths, own }: File) => {
      const held = paths.get(section);
      const nearest = Math.max(0, ...(held ?? []).map((one) => commonLevels(one, path)));
      const hasRow = role !== undefined && at(at(rows.get(real), path), role) !== undefined;
      return [nearest, Number(hasRow), Number(own !== undefined), Number(held !== undefined)];
    };
    const [best] = places
      .map((file) => ({ file, score: scoreOf(file) }))
      // The first of several equally good files.
      .sort(
        (a, b) => b.score.map((part, i) => part - (a.score[i] as number)).find((difference) => difference !== 0) ?? 0,
      );
    return (best as { file: File }).file.real;
  };
};

const fileOf = (real: string, source: Source | undefined, isFirst: boolean): File => {
  const paths = new Map<Section, string[]>();
  for (const section of SECTIONS) {
    const held = at(source, section);
    if (isMap(held)) paths.set(section, section === "groups" ? groupPaths(held) : pathsIn(held, section));
  }
  const tops = new Set([...paths.values()].flat().map((path) => (path === ROOT ? ROOT : path.split("/")[0])));
  const [own] = tops;
  return { real, paths, own: isFirst || tops.size !== 1 || own === ROOT ? undefined : own };
};

const at = (source: Source | undefined, key: string): Source | undefined =>
  isMap(source) ? source.entries.get(key)?.value : undefined;

const groupPaths = (groups: Source | undefined, parent = ""): string[] =>
  isMap(groups)
    ? [...groups.entries].flatMap(([key, { value }]) => [
        parent + key,
        ...groupPaths(at(value, "groups"), `${parent}${key}/`),
      ])
    : [];

const pathsIn = (held: Source, section: Section) => {
  if (!isMap(held)) return [];
  if (section === "access") return [...held.entries.keys()];
  return [...held.entries.values()].map(({ value }) => {
    const place = at(value, "in");
    return place && "scalar" in place && typeof place.scalar === "string" ? place.scalar : ROOT;
  });
};

/** The number of groups that two paths share from the organization down; the organization itself counts as one. */
const commonLevels = (one: string, other: string) => {
  if (one === ROOT || other === ROOT) return one === other ? 1 : 0;
  const [a, b] = [one.split("/"), other.split("/")];
  const different = a.findIndex((name, i) => name !== b[i]);
  return different < 0 ? a.length : different;
};
