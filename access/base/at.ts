// The base of a change, and the repository that it is read from.
import { posix, relative, sep } from "node:path";
import { type TextFile, TextFileError } from "../policy/text-file.ts";
import { type Base, baseIn, wantedBase } from "./base.ts";
import { type Repository, repositoryAt } from "./git.ts";

export interface At extends Base {
  repository: Repository;
  /** of the command, from the top level of the repository; empty: the top level */
  folder: string;
}

/** `flag` is the value of --base. Undefined: there is no base. Throws a BaseError where it cannot be read. */
export const baseOf = (flag: string | undefined, env: NodeJS.ProcessEnv, folder: string): At | undefined => {
  const wanted = wantedBase(flag, env);
  if (wanted === undefined) return undefined;
  const repository = repositoryAt(folder);
  const own = relative(repository.root, folder).split(sep).join("/");
  return { repository, folder: own, ...baseIn(repository, wanted) };
};

/** The files of the base: paths count from the top level. */
export const filesAt = ({ repository, commit, ref }: At) => ({
  exists: (file: string): boolean => repository.has(commit, posix.normalize(file)),
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
