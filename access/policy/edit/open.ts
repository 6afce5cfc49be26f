// A policy that is about to be edited: its files as they were read, what they say, and the uids beside it.
import type { RoleBundles } from "../../../schema/index.ts";
import { mistakeText, readPolicy } from "../parse.ts";
import type { Policy } from "../policy.ts";
import type { PolicyStack } from "../stack.ts";
import { type FindFile, findTextFile, TextFileError } from "../text-file.ts";
import { type UidsFile, uidsBeside } from "../uids.ts";
import { PolicyEditError } from "./document.ts";
import { type ChangedFile, replaceFiles } from "./write.ts";

/** The files of a policy without mistakes, as they were read. */
export interface OpenPolicy {
  file: string;
  policy: Policy;
  /** by path without links */
  texts: ReadonlyMap<string, { name: string; text: string }>;
  /** the file beside it with the uids of its records, where there is one */
  adopted?: UidsFile;
}

/** Throws a PolicyEditError with every mistake of the policy, and of the uids beside it. */
export const openPolicy = (file: string): OpenPolicy => {
  const texts = new Map<string, { name: string; text: string }>();
  const find: FindFile = (name, folder) => {
    const { real, read } = findTextFile(name, folder);
    const recorded = (): string => {
      const text = read();
      texts.set(real, { name, text });
      return text;
    };
    return { real, read: recorded };
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

/** What an edit changes. Nothing is written yet. */
export interface PolicyEdit {
  /** entries that go, or that are new: `access.platform.editor: release`, `identities.release` */
  entries: readonly string[];
  files: readonly ChangedFile[];
}

/** Writes the files. Throws a PolicyEditError where one cannot be written, or has changed since it was read. */
export const applyEdit = ({ files }: PolicyEdit): void => replaceFiles(files);

/** Throws a PolicyEditError unless the files, after their changes, say what `expected` does. */
export const checkResult = (opened: OpenPolicy, files: readonly ChangedFile[], expected: Policy): void => {
  const { file } = opened;
  const builtIn = [{ roles: builtInRolesIn(expected, opened.policy) }];
  const { policy: result, mistakes } = readPolicy(file, findIn(opened, files), { builtIn });
  const [mistake] = mistakes;
  if (mistake) throw new PolicyEditError(`after that, ${mistakeText(mistake)}`);
  if (result === undefined || meaningOf(result) !== meaningOf(expected))
    throw new PolicyEditError(`${file} would say something else than before; edit it by hand`);
};

/** The built-in roles that a policy names. A key of `before` is none of them: a role that goes must not be taken for one. */
const builtInRolesIn = ({ bindings, people, roles }: Policy, before: Policy): RoleBundles => {
  const given = [...people.values()].flatMap(({ externalGroups }) => [...externalGroups.values()].flat());
  const names = [...bindings.map(({ role }) => role), ...given];
  return Object.fromEntries(
    names.filter((name) => !roles.has(name) && !before.roles.has(name)).map((name) => [name, []]),
  );
};

/** Finds the files as they were read, or as they are after their changes. */
export const findIn = ({ texts }: OpenPolicy, files: readonly ChangedFile[] = []): FindFile => {
  const after = new Map(files.map((one) => [one.real, one.after]));
  return (name, folder) => {
    const { real, read } = findTextFile(name, folder);
    return { real, read: () => after.get(real) ?? texts.get(real)?.text ?? read() };
  };
};

/** The policy without its places, which move, and without its order, which means nothing. */
const meaningOf = ({ tests, ...policy }: Policy): string =>
  JSON.stringify({ ...policy, tests }, (key, value) => {
    if (key === "place" && typeof value?.line === "number") return undefined;
    if (key === "bindings" && Array.isArray(value))
      return value.map((one) => JSON.stringify({ ...one, place: undefined })).sort();
    return value instanceof Map ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value;
  });

/** `access.platform.editor: release` of a path of keys. */
export const entryText = ([section, ...rest]: readonly string[]): string =>
  section === "access" ? `access.${rest[0]}.${rest[1]}: ${rest[2]}` : `${section}.${rest.join(".")}`;
