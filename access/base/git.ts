// Reads files of a commit with git. The author of the work tree must not decide what is read: its settings, links and nested repositories
// do not count. Nothing is fetched, and no program except git runs.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { UserError } from "../../schema/index.ts";

/** The base cannot be read, so there is no review. */
export class BaseError extends UserError {
  override readonly name = "BaseError";
}

export type Repository = ReturnType<typeof repositoryAt>;

type Kind = "file" | "folder" | "link" | "submodule";

export interface Entry {
  /** from the top level */
  path: string;
  kind: Exclude<Kind, "folder">;
  isExecutable: boolean;
  object: string;
  /** in bytes */
  size: number;
}

/** Maximum bytes of one file, of a list, and of contents that are read at once. */
const FILE_MAX = 4 * 1024 * 1024;
const LIST_MAX = 64 * 1024 * 1024;
const READ_MAX = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

const FLAGS: readonly string[] = [
  "--no-replace-objects",
  "--no-optional-locks",
  "--literal-pathspecs",
  // A folder of the work tree that looks like a repository is not one:
  // https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository
  ...["-c", "safe.bareRepository=explicit"],
  // A missing object of a partial clone stays missing: a remote's address can be a command.
  ...["-c", "protocol.allow=never"],
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.hooksPath=/dev/null"],
];

export const isHash = (text: unknown): text is string =>
  typeof text === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** `main~2` is the suffix `~2` of `main`. */
const partsOf = (ref: string) => {
  const [name = ""] = /^[^~^]*/.exec(ref) ?? [];
  return { name, back: ref.slice(name.length) };
};

/**
 * The full names that a name may mean; the first existing one counts. A tag needs its full name: git prefers it to a branch with its name,
 * and others may create it. `origin/main` means only the branch of the remote: others may create a branch `origin/main`.
 */
const refsOf = (name: string) => {
  if (name === "HEAD" || name.startsWith("refs/")) return [name];
  return name.startsWith("origin/") ? [`refs/remotes/${name}`] : [`refs/remotes/origin/${name}`, `refs/heads/${name}`];
};

/** The branch that a ref names; undefined for a hash, a tag or HEAD. */
export const branchOf = (ref: string): string | undefined => {
  const { name } = partsOf(ref);
  if (isHash(name)) return undefined;
  return /^refs\/(?:remotes\/origin|heads)\/(.+)$/.exec(refsOf(name)[0] ?? "")?.[1];
};

/** The repository of a folder. Throws if there is none, or git refuses it. */
export const repositoryAt = (folder: string) => {
  const program = gitProgram(folder);
  const gitWithin = (maxBuffer: number, excess: string, args: readonly string[], input = "") => {
    const { status, stdout, stderr, error } = spawnSync(program, [...FLAGS, ...args], {
      cwd: folder,
      env: environment(),
      input,
      maxBuffer,
      timeout: TIMEOUT_MS,
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOBUFS") throw new BaseError(excess);
    if (error) throw new BaseError(`cannot run git: ${error.message}`);
    return { isDone: status === 0, stdout, problem: stderr.toString().split("\n", 1)[0] as string };
  };
  const git = (...args: readonly string[]) => gitWithin(FILE_MAX, "a file of the base is larger than 4 MiB", args);
  const line = (bytes: Buffer) => bytes.toString().replace(/\n$/, "");
  /** The items that git lists, each with a NUL after it. */
  const list = (what: string, ...args: readonly string[]) => {
    const listed = gitWithin(LIST_MAX, `cannot ${what}: there are too many files`, args);
    if (!listed.isDone) throw new BaseError(`cannot ${what}: ${listed.problem}`);
    return listed.stdout.toString().split("\0").slice(0, -1);
  };

  const top = git("rev-parse", "--show-toplevel");
  if (!top.isDone) throw new BaseError(`git cannot read a base here: ${top.problem.replace(/^fatal: /, "")}`);

  const verify = (name: string) => {
    const found = git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
    return found.isDone ? line(found.stdout) : undefined;
  };

  // Git would take the tag refs/tags/refs/heads/main if refs/heads/main is missing.
  const isThere = (name: string) => name === "HEAD" || git("show-ref", "--verify", "--quiet", name).isDone;

  /**
   * The full hash of a commit; undefined: this clone does not have it. `main` is the branch of origin, or else the local one; a tag is
   * `refs/tags/v1`, and a hash is complete.
   */
  const commitOf = (ref: string) => {
    if (!/^[^-^\p{Cc}\s:?*[\]{}\\][^\p{Cc}\s:?*[\]{}\\]*$/u.test(ref) || ref.includes(".."))
      throw new BaseError(`${JSON.stringify(ref)} is not the name of a branch, a tag or a commit`);
    const { name, back } = partsOf(ref);
    if (isHash(name)) return verify(ref);
    const found = refsOf(name).find(isThere);
    return found === undefined ? undefined : verify(`${found}${back}`);
  };

  const entryAt = (commit: string, path: string) => {
    const listed = git("ls-tree", "-z", "--full-tree", commit, "--", path);
    if (!listed.isDone) throw new BaseError(`cannot read ${path} at ${commit}: ${listed.problem}`);
    const [, mode, object] = /^(\d+) \w+ ([0-9a-f]+)\t/.exec(listed.stdout.toString()) ?? [];
    return mode !== undefined && object !== undefined ? { mode, object } : undefined;
  };

  const root = line(top.stdout);
  return {
    /** real path of the top level of the work tree */
    root,
    isShallow: line(git("rev-parse", "--is-shallow-repository").stdout) === "true",
    commitOf,
    /** Whether a tracked file of the work tree differs from HEAD. */
    isModified: () => git("status", "--porcelain", "--untracked-files=no").stdout.length > 0,
    /** The work tree of which this repository is a submodule; undefined: it is not a submodule. */
    superproject: line(git("rev-parse", "--show-superproject-working-tree").stdout) || undefined,
    /** The kind of a path at a commit; undefined: the path does not exist. */
    kindAt: (commit: string, path: string) => {
      const { mode } = entryAt(commit, path) ?? {};
      return mode === undefined ? undefined : (KINDS[mode] ?? "file");
    },
    /** Paths that are symbolic links at HEAD, and not at the commit. */
    newLinks: (commit: string) => {
      const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--diff-filter=AT", commit, "HEAD"];
      const fields = list(`compare HEAD with ${commit}`, ...args);
      return fields.flatMap((field, i) => (/^:\d+ 120000 /.test(field) ? [fields[i + 1] as string] : []));
    },
    /** All entries of a commit except its folders. */
    entriesOf: (commit: string) =>
      list(`read the files of ${commit}`, "ls-tree", "-r", "-l", "-z", "--full-tree", commit).map((line) => {
        const [, mode = "", object = "", size = "", path = ""] = /^(\d+) \w+ (\w+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
        const kind = (KINDS[mode] ?? "file") as Entry["kind"];
        return { path, kind, isExecutable: mode === "100755", object, size: Number(size) || 0 };
      }),
    /** Calls the function with the content of each of these files and links. */
    readAll: (entries: readonly Entry[], act: (entry: Entry, content: Buffer) => void): void => {
      const open = [...entries];
      while (open.length > 0) {
        const some: Entry[] = [];
        for (let bytes = 0; open[0] !== undefined && (some.length === 0 || bytes + open[0].size <= READ_MAX); ) {
          bytes += open[0].size;
          some.push(open.shift() as Entry);
        }
        // A header line precedes each content, and a newline follows it.
        const most = some.reduce((sum, { size }) => sum + size + 200, 0);
        const input = some.map(({ object }) => `${object}\n`).join("");
        const read = gitWithin(most, "git printed too much", ["cat-file", "--batch"], input);
        let at = 0;
        for (const entry of some) {
          const head = `${entry.object} blob ${entry.size}\n`;
          const from = at + head.length;
          if (read.stdout.toString("latin1", at, from) !== head)
            throw new BaseError(`cannot read ${entry.path}: ${read.problem || MISSING}`);
          at = from + entry.size + 1;
          act(entry, read.stdout.subarray(from, at - 1));
        }
      }
    },
    /** Paths that differ between a commit and the work tree, and paths that git neither tracks nor ignores. */
    changedSince: (commit: string): string[] => {
      const what = `compare the work tree with ${commit}`;
      const shown = [
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-relative",
        "--ignore-submodules=dirty",
      ];
      return [
        ...list(what, "diff", ...shown, commit, "--"),
        ...list(what, "ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", root),
      ].sort();
    },
    /** A file of a commit by its path from the top level; undefined: it does not exist. */
    fileAt: (commit: string, path: string): string | undefined => {
      const entry = entryAt(commit, path);
      if (entry === undefined) return undefined;
      const { mode, object } = entry;
      if (!mode.startsWith("100"))
        throw new BaseError(`${path} is a ${KIND_WORDS[KINDS[mode] ?? "file"]} at ${commit}`);
      const blob = git("cat-file", "blob", object);
      if (!blob.isDone) throw new BaseError(`cannot read ${path} at ${commit}: ${blob.problem}; ${UNFILTERED}`);
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(blob.stdout);
      } catch {
        // the only error of decoding
        throw new BaseError(`${path} is not UTF-8 at ${commit}`);
      }
    },
  };
};

/** The top level of the repository of a folder; undefined: the folder is not in a repository. */
export const repositoryRoot = (folder: string): string | undefined => {
  try {
    return repositoryAt(folder).root;
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    return undefined;
  }
};

const KINDS: Readonly<Record<string, Kind>> = {
  "040000": "folder",
  "120000": "link",
  "160000": "submodule",
};

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  file: "file",
  folder: "folder",
  link: "symbolic link",
  submodule: "submodule",
};

const UNFILTERED = "check out the repository without a filter of objects";
const MISSING = `this clone does not have it; ${UNFILTERED}`;

/** The folders of the PATH outside a work tree. */
export const pathOutside = (folder: string): string[] =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .filter((path) => isAbsolute(path) && !`${path}${sep}`.startsWith(`${folder}${sep}`));

/** Ignores a git in the work tree: npm puts the folders of its packages on the PATH. */
export const gitProgram = (folder: string): string => {
  const name = process.platform === "win32" ? "git.exe" : "git";
  const found = pathOutside(folder)
    .filter((path) => !path.split(sep).includes("node_modules"))
    .map((path) => join(path, name))
    .find(isExecutable);
  if (found === undefined) throw new BaseError("git is not on the PATH: it reads the rules of the base");
  return found;
};

const isExecutable = (path: string) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // it does not exist, or is not executable
    return false;
  }
};

/** The environment without git's variables, which name other repositories, settings and programs. */
const environment = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith("GIT_"))),
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
});
