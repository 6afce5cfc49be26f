// Path of an operation's log: a file in a private folder of the user, below the folder for temporary files. All processes of one operation
// derive the same name from the engine that started them.
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, type Stats } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { basename, join } from "node:path";
import { SessionError } from "../../client/errors.ts";
import { isAlive, pidsHere, startOf } from "../../pulumi/process.ts";

/** The engine that started this process. */
export interface Engine {
  /** `127.0.0.1:40123`, the first argument of a plugin */
  address: string;
  /** its process; absent = the parent of this one, which starts a plugin by `exec` */
  pid?: number | undefined;
}

/** The folder or the file cannot be used: one sentence that includes what to do. */
export class OperationError extends SessionError {
  override readonly name = "OperationError";
}

/** Path of the operation's log, in a folder that exists. Removes the logs of engines that have ended. */
export const logPath = ({ address, pid = parent() }: Engine): string => {
  const folder = requireFolder();
  const end = `.${digest(address)}.jsonl`;
  const names = readdirSync(folder);
  for (const name of names) if (isAbandoned(name)) rmSync(join(folder, name), { force: true });
  // A process that does not see the engine names the log after another process above it.
  const isOwn = (name: string) => name.startsWith(`${namespace()}.`) && name.endsWith(end) && !isAbandoned(name);
  return join(folder, names.find(isOwn) ?? markOf(pid) + end);
};

/** Whether a process that wrote into the log of this name is alive, as far as this one can see it. */
export const hasLivingMember = (name: string): boolean => {
  try {
    const text = readFileSync(join(folderHere(), basename(name)), "utf8");
    const pids = text.split("\n").flatMap((line) => /^\["[^"]*","(\d+)\./.exec(line)?.[1] ?? []);
    return [...new Set(pids)].some((pid) => isAlive(Number(pid)));
  } catch {
    return false;
  }
};

// On Windows the folder for temporary files belongs to the user.
const folderHere = () => join(tmpdir(), `pulumi-irm-${process.getuid?.() ?? userInfo().username}`);

const requireFolder = (): string => {
  const folder = folderHere();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const problem = problemOf(lstatSync(folder));
    if (problem !== undefined) throw new OperationError(`${folder} ${problem}; ${ADVICE}`);
  } catch (error) {
    throw withPath(folder, error);
  }
  return folder;
};

const ADVICE = "remove it, or set TMPDIR to a folder of your own";

/** An error of the file system, with the path and what to do. */
export const withPath = (path: string, error: unknown): Error => {
  if (error instanceof OperationError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new OperationError(
    `${path}, which the providers of one operation share, cannot be used (${code ?? message}); ${ADVICE}`,
    { cause: error },
  );
};

// Another user who creates the folder first must not read or write its files.
const problemOf = (found: Stats): string | undefined => {
  const must = "must be a folder of this user alone";
  if (!found.isDirectory()) return `${must}, and is none`;
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (found.uid !== uid) return `${must}, and belongs to another one`;
  return (found.mode & 0o077) === 0 ? undefined : `${must}, and others have access to it`;
};

// On Windows a command file runs between the two, and each process has its own.
const parent = () => (process.platform === "win32" ? UNKNOWN : process.ppid);
const UNKNOWN = 0;

const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 12);

// Containers may share the folder: only in its own namespace does a process know whether an engine has ended.
const markOf = (pid: number) => [namespace(), pid, startOf(pid) || 0].join(".");

const namespace = () => digest(pidsHere() ?? "");

const isAbandoned = (name: string) => {
  const [where, pid, start] = name.split(".");
  if (pidsHere() === undefined || where !== namespace()) return false;
  const engine = Number(pid);
  if (engine === UNKNOWN) return false;
  return !isAlive(engine) || (startOf(engine) || "0") !== start;
};
