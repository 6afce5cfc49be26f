// The files of a policy that is under review: the policy, what it includes, and the uids beside it. The change has them, or has removed them. Its
// author chooses what is included, so each must be a policy, and none may decide what runs.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, posix, resolve } from "node:path";
import { BaseError, type Entry, pathOutside } from "../../access/base/git.ts";
import { type BaseRevision, filesAt, pathAt, sidesOf } from "../../access/base/revision.ts";
import { mistakeText, readPolicy } from "../../access/policy/parse.ts";
import { readSource, TextFileError } from "../../access/policy/text-file.ts";
import { UIDS_FILE } from "../../access/policy/uids.ts";
import { projectFolder } from "../../pulumi/project.ts";
import { UsageError } from "../usage.ts";
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
const isOfProgram = (path: string) =>
  decidesPackages(path) || /^(?:pulumi\..*|tsconfig.*\.json)$/i.test(posix.basename(path));

// The project that a review of a policy runs: that of the base, with the policy of the change. Nothing else of the change is read, and nothing
// of it runs: no program, no settings, no packages that it names.

export interface PolicyProject {
  /** folder of its program */
  cwd: string;
  /** for what runs there: without programs of the work tree */
  env: NodeJS.ProcessEnv;
}

interface Parts {
  files: readonly PolicyFile[];
  /** paths that the change edits beside them */
  others: readonly string[];
  at: BaseRevision;
  signal: AbortSignal;
}

/** Calls the function with the project, which goes with it. Errors: BaseError, and the reason of `signal`. */
export const withPolicyProject = async <T>(
  { files, others, at, signal }: Parts,
  act: (project: PolicyProject) => Promise<T>,
): Promise<T> => {
  const program = programOf(at);
  const root = makeFolder();
  try {
    writeAll(root, files, at);
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
 * Of this user alone, and below folders of this user: the engine and Node look for projects and packages in the folders above too, and anyone
 * may write into that for temporary files.
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

const writeAll = (root: string, files: readonly PolicyFile[], at: BaseRevision): void => {
  try {
    writeTree(root, at);
    for (const file of files) write(root, file, at);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new BaseError(`cannot write the project of ${at.ref} into ${root}: ${code}`);
  }
};

const writeTree = (root: string, { repository, commit }: BaseRevision): void => {
  const links: [string, string][] = [];
  const writeOne = ({ path, kind, isExecutable }: Entry, content: Buffer) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    if (kind === "link") links.push([content.toString(), file]);
    else writeFileSync(file, content, { mode: isExecutable ? 0o700 : 0o600 });
  };
  repository.readAll(
    repository.entriesOf(commit).filter(({ kind }) => kind !== "submodule"),
    writeOne,
  );
  // At the end, no file is written through one.
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
