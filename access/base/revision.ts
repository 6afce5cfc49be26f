// The base of a change, and the repository that it is read from.
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { isWithin } from "../../pulumi/project.ts";
import { FILE_MAX, type TextFile, TextFileError } from "../policy/text-file.ts";
import { type Base, baseIn, type Wanted, wantedBase } from "./base.ts";
import { BaseError, type Repository, repositoryAt } from "./git.ts";

export interface BaseRevision extends Base {
  repository: Repository;
  /** of the command, from the top level of the repository; empty: the top level */
  folder: string;
}

/** Undefined: there is no base. Throws a BaseError if it cannot be read. */
export const baseOf = (
  flags: { base?: string; branch?: string },
  env: NodeJS.ProcessEnv,
  folder: string,
): BaseRevision | undefined => {
  const wanted = wantedBase(flags.base, env, flags.branch);
  if (wanted === undefined) return undefined;
  const repository = repositoryAt(folder);
  refuseNewSubmodule(repository, wanted);
  const base = baseIn(repository, wanted);
  refuseNewLink(repository, base, folder);
  return { repository, folder: pathFrom(repository.root, folder), ...base };
};

const pathFrom = (root: string, folder: string) => relative(root, folder).split(sep).join("/");

const REMEDY = "so it is not clear whose rules and tests count. Leave the folder what it is, or give it another name";

/** Otherwise the change would choose the repository that the rules come from. */
const refuseNewSubmodule = ({ root, superproject }: Repository, wanted: Wanted): void => {
  if (superproject === undefined) return;
  const outer = repositoryAt(superproject);
  refuseNewSubmodule(outer, wanted);
  const commit = wanted.refs.map((ref) => outer.commitOf(ref)).find((one) => one !== undefined);
  const path = pathFrom(outer.root, root);
  if (commit === undefined || outer.kindAt(commit, path) === "submodule") return;
  throw new BaseError(`this change makes ${path} a submodule, ${REMEDY}`);
};

/**
 * The command runs at the target of a link. A new link would let the change choose a folder for which the base has other rules, or none.
 */
const refuseNewLink = (repository: Repository, { commit, ref }: Base, folder: string) => {
  const isReached = (link: string) => {
    const real = realPath(join(repository.root, link));
    return real !== undefined && (folder === real || folder.startsWith(`${real}${sep}`));
  };
  const link = repository.newLinks(commit).find((one) => repository.kindAt(commit, one) === "folder" && isReached(one));
  if (link === undefined) return;
  const folderPath = pathFrom(repository.root, folder) || "the top level";
  throw new BaseError(`this change makes ${link}, which is a folder at ${ref}, a link to ${folderPath}, ${REMEDY}`);
};

const realPath = (file: string) => {
  try {
    return realpathSync(file);
  } catch {
    // it leads nowhere
    return undefined;
  }
};

/** The path of a file from the top level of the repository; undefined: it is outside. */
export const pathAt = (file: string, { repository: { root } }: Pick<BaseRevision, "repository">): string | undefined =>
  isWithin(root, file) ? pathFrom(root, file) : undefined;

/** The files of the base: paths are relative to the top level. */
export const filesAt = ({ repository, commit, ref }: BaseRevision) => ({
  exists: (file: string) => repository.kindAt(commit, posix.normalize(file)) !== undefined,
  find: (file: string): TextFile => {
    const path = posix.normalize(file);
    if (path.startsWith("../")) throw new TextFileError(`${file} is outside the repository`);
    return {
      real: path,
      read: () => {
        const text = repository.fileAt(commit, path);
        if (text === undefined) throw new TextFileError(`there is no ${path} at ${ref}`);
        return text;
      },
    };
  },
});

// A file in the base, and in the work tree of the change.

export interface Sides {
  /** from the top level of the repository, with slashes */
  path: string;
  /** undefined: the base has no such file */
  base: string | undefined;
  /** undefined: the work tree has no such file */
  change: string | { problem: string } | undefined;
}

export const sidesOf = (repository: Repository, { commit }: Base, path: string): Sides => ({
  path,
  base: repository.fileAt(commit, path),
  change: fileOfChange(repository.root, path),
});

/** The path of a file from the top level, if it is relative to that or absolute. A link of the work tree does not redirect it. */
export const pathInRepository = ({ root }: Repository, file: string): string => {
  const fromRoot = (path: string) => (isWithin(root, path) ? pathFrom(root, path) || undefined : undefined);
  const path = isAbsolute(file) ? (fromRoot(file) ?? fromRoot(pathInRealFolder(file))) : fromRoot(join(root, file));
  if (path === undefined)
    throw new BaseError(`${file} is not in the repository ${root}, and only a file of its base counts`);
  return path;
};

/** Resolves the folder, because the file need not exist. */
const pathInRealFolder = (file: string) => {
  const folder = join(file, "..");
  try {
    return join(realpathSync(folder), file.slice(folder.length).replace(/^[/\\]+/, ""));
  } catch {
    // the folder does not exist here; the base may have it
    return file;
  }
};

/** Follows no link: it may lead to any file of this machine, whose text the review would show. */
const fileOfChange = (root: string, path: string): Sides["change"] => {
  const file = join(root, path);
  try {
    const found = lstatSync(file);
    if (realpathSync(file) !== file || !found.isFile())
      return { problem: "is a symbolic link, or is reached through one" };
    if (found.size > FILE_MAX) return { problem: "is larger than 4 MiB" };
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { problem: `cannot be read: ${message}` };
  }
};
