// The files of a policy under review: the policy, its includes, and the uids beside it. The change has them, or has removed them. Its author
// chooses the includes, so each must be a policy, and none may be a part of the program.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, posix, resolve } from "node:path";
import { BaseError, pathOutside } from "../../access/base/git.ts";
import { type BaseRevision, filesAt, pathAt, sidesOf } from "../../access/base/revision.ts";
import { mistakeText, readPolicy } from "../../access/policy/parse.ts";
import { readSource, TextFileError } from "../../access/policy/text-file.ts";
import { UIDS_FILE } from "../../access/policy/uids.ts";
import { projectFolder } from "../../pulumi/project.ts";
import { UsageError } from "../irm-command.ts";
import { addPackages, decidesPackages } from "./packages.ts";

export interface PolicyFile {
  /** from the top level of the repository, with slashes */
  path: string;
  /** undefined: the change removes it, or never had it */
  text: string | undefined;
  /** named, and not at the base, whose program need not read it */
  isNew: boolean;
}

/** `named` are paths from `folder`. Throws a UsageError, TextFileError and BaseError. */
export const policyFiles = (named: readonly string[], at: BaseRevision, folder: string): PolicyFile[] => {
  const base = filesAt(at);
  const paths = new Map<string, { isNew: boolean }>();
  const add = (path: string, isNew = false) => void (paths.has(path) || paths.set(path, { isNew }));
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
    // The change also removes or edits the includes of the base alone.
    if (isAtBase) for (const one of readSource(path, base.find).files) add(one);
    if (!isHere) continue;
    const read = readPolicy(name);
    mistakes.push(...read.mistakes.map(mistakeText));
    for (const one of read.files) add(pathAt(resolve(folder, one), at) ?? path);
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  // A file system may not distinguish capitals.
  for (const path of paths.keys())
    if (decidesPackages(path) || /^(?:pulumi\..*|tsconfig.*\.json)$/i.test(posix.basename(path)))
      mistakes.push(`${path} is a file of the program or its packages, and no policy`);
  if (mistakes.length > 0) throw new TextFileError([NO_REVIEW, ...mistakes].join("\n"));
  return [...paths].map(([path, { isNew }]) => {
    const { change: text } = sidesOf(at.repository, at, path);
    if (typeof text === "object") throw new TextFileError(`${path} ${text.problem}, so there is no review`);
    return { path, text, isNew };
  });
};

const NO_REVIEW = "the policy has mistakes, so there is no review:";

// The project of a policy's review: that of the base, with the policy of the change. The review reads no other file of the change, and runs
// none: no program, no settings, no packages of it.

export interface PolicyProject {
  /** folder of its program */
  cwd: string;
  /** of its processes: without programs of the work tree */
  env: NodeJS.ProcessEnv;
}

/**
 * Calls the function with the project, and removes it afterwards. `others`: paths that the change edits beside the policy. Errors: BaseError,
 * and the reason of `signal`.
 */
export const withPolicyProject = async <T>(
  {
    files,
    others,
    at,
    signal,
  }: { files: readonly PolicyFile[]; others: readonly string[]; at: BaseRevision; signal: AbortSignal },
  act: (project: PolicyProject) => Promise<T>,
): Promise<T> => {
  const program = programOf(at);
  const root = makeFolder();
  try {
    try {
      writeTree(root, at);
      for (const file of files) write(root, file, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw new BaseError(`cannot write the project of ${at.ref} into ${root}: ${code}`);
    }
    const env = { ...process.env, PATH: pathOutside(at.repository.root).join(delimiter) };
    await addPackages({ root, program, others, at, env, signal });
    signal.throwIfAborted();
    return await act({ cwd: join(root, program), env });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

/** The folder of the base's Pulumi.yaml for a folder, both from the top level. */
export const projectAt = (at: BaseRevision, folder = at.folder): string | undefined =>
  projectFolder(folder, filesAt(at).exists, posix);

/** The folder of Pulumi.yaml, from the top level. */
const programOf = (at: BaseRevision): string => {
  const { repository, ref } = at;
  const program = projectAt(at);
  if (program === undefined)
    throw new BaseError(
      `there is no Pulumi.yaml for ${at.folder || "the top level"} at ${ref}, and a review of a policy runs the program of the base. Without a program, npx pulumi-irm check and npx pulumi-irm test read a policy`,
    );
  if (projectFolder(join(repository.root, at.folder), existsSync) === join(repository.root, program)) return program;
  throw new BaseError(
    `the Pulumi.yaml of this folder is that of ${program || "the top level"} at ${ref}, and another one in this change, so it is not clear which program reads the policy. Review the program: npx pulumi-irm review without --policy`,
  );
};

/**
 * A folder of this user alone, below folders of this user. The engine and Node also look for projects and packages above it, and anyone may
 * write into the folder for temporary files.
 */
const makeFolder = (): string => {
  const above = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pulumi-irm");
  try {
    mkdirSync(above, { recursive: true, mode: 0o700 });
    return realpathSync(mkdtempSync(join(above, "review-")));
  } catch (error) {
    throw new BaseError(
      `cannot write into ${above}, where the program of the base is to run: ${(error as NodeJS.ErrnoException).code}; set XDG_CACHE_HOME to a folder of yours`,
    );
  }
};

const writeTree = (root: string, { repository, commit }: BaseRevision): void => {
  const links: [string, string][] = [];
  const entries = repository.entriesOf(commit).filter(({ kind }) => kind !== "submodule");
  repository.readAll(entries, ({ path, kind, isExecutable }, content) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    if (kind === "link") links.push([content.toString(), file]);
    else writeFileSync(file, content, { mode: isExecutable ? 0o700 : 0o600 });
  });
  // Links come last: a file must not be written through one.
  for (const [target, file] of links) symlinkSync(target, file);
};

const write = (root: string, { path, text }: PolicyFile, { ref }: BaseRevision): void => {
  const file = join(root, path);
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  if (realpathSync(folder) !== folder)
    throw new BaseError(`${path} is reached through a symbolic link at ${ref}, so there is no review`);
  rmSync(file, { force: true });
  if (text !== undefined) writeFileSync(file, text, { mode: 0o600, flag: "wx" });
};
