// A file as the base has it, and as the change has it in the work tree.
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { isWithin } from "../../pulumi/project.ts";
import { FILE_MAX } from "../policy/text-file.ts";
import type { Base } from "./base.ts";
import { BaseError, type Repository } from "./git.ts";

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

/** The path of a file from the top level, where it is written so or absolute. A link of the work tree does not lead elsewhere. */
export const pathInRepository = ({ root }: Repository, file: string): string => {
  const fromRoot = (path: string): string | undefined =>
    isWithin(root, path) ? relative(root, path).split(sep).join("/") || undefined : undefined;
  const path = isAbsolute(file) ? (fromRoot(file) ?? fromRoot(realPath(file))) : fromRoot(join(root, file));
  if (path === undefined)
    throw new BaseError(`${file} is not in the repository ${root}, and only a file of its base counts`);
  return path;
};

/** Resolves the folder, because the file need not exist. */
const realPath = (file: string): string => {
  const folder = join(file, "..");
  try {
    return join(realpathSync(folder), file.slice(folder.length).replace(/^[/\\]+/, ""));
  } catch {
    // the folder does not exist here; the base may have it
    return file;
  }
};

/** No link is followed: it may lead to any file of this machine, whose text the review would show. */
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
