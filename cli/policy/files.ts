// The files of a policy that is under review: the policy, what it includes, and the uids beside it. The change has them, or has removed them. Its
// author chooses what is included, so each must be a policy, and none may decide what runs.
import { posix, resolve } from "node:path";
import { type At, filesAt, pathAt, sidesOf } from "../../access/base/revision.ts";
import { mistakeText, readPolicy, TextFileError } from "../../access/policy/index.ts";
import { readSource } from "../../access/policy/text-file.ts";
import { UIDS_FILE } from "../../access/policy/uids.ts";
import { UsageError } from "../usage.ts";
import { decidesPackages } from "./packages.ts";

export interface PolicyFile {
  /** from the top level of the repository, with slashes */
  path: string;
  /** undefined: the change removes it, or never had it */
  text: string | undefined;
  /** named, and not at the base, whose program need not read it */
  isNew: boolean;
}

/** `named` are paths from `folder`. Throws a UsageError, TextFileError and BaseError. */
export const policyFiles = (named: readonly string[], at: At, folder: string): PolicyFile[] => {
  const base = filesAt(at);
  const paths = new Map<string, { isNew: boolean }>();
  const add = (path: string, isNew = false): void => void (paths.has(path) || paths.set(path, { isNew }));
  const problems: string[] = [];
  const mistakes: string[] = [];
  for (const name of named) {
    const path = pathAt(resolve(folder, name), at);
    if (path === undefined || path === "") {
      problems.push(`--policy: ${name} is not a file of the repository ${at.repository.root}`);
      continue;
    }
    const isAtBase = base.exists(path);
    const isHere = sidesOf(at.repository, at, path).change !== undefined;
    if (!isAtBase && !isHere) {
      problems.push(`--policy: there is no ${path} at ${at.ref}, nor in the work tree`);
      continue;
    }
    add(path, !isAtBase);
    add(posix.join(posix.dirname(path), UIDS_FILE));
    // What only the base includes goes with the change as well, or is edited by it.
    if (isAtBase) for (const one of readSource(path, base.find).files) add(one);
    if (!isHere) continue;
    const read = readPolicy(name);
    mistakes.push(...read.mistakes.map(mistakeText));
    for (const one of read.files) add(pathAt(resolve(folder, one), at) ?? path);
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  for (const path of paths.keys())
    if (isOfProgram(path)) mistakes.push(`${path} is a file of the program or its packages, and no policy`);
  if (mistakes.length > 0) throw new TextFileError([NO_REVIEW, ...mistakes].join("\n"));
  return [...paths].map(([path, { isNew }]) => {
    const { change: text } = sidesOf(at.repository, at, path);
    if (typeof text === "object") throw new TextFileError(`${path} ${text.problem}, so there is no review`);
    return { path, text, isNew };
  });
};

const NO_REVIEW = "the policy has mistakes, so there is no review:";

/** A file system may not tell capitals apart. */
const isOfProgram = (path: string): boolean =>
  decidesPackages(path) || /^(?:pulumi\..*|tsconfig.*\.json)$/i.test(posix.basename(path));
