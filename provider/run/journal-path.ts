// The path of a stack's journal. There is one file for each stack, backend and address of the API, so two stacks of the same name never
// adopt each other's records.
import { createHash } from "node:crypto";
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Config, Env } from "../../client/config.ts";
import { backendOf, isWithin, projectFolder, textOrEmpty } from "../../pulumi/project.ts";

/** Folder of the journals: configured, or below the user's state folder (XDG Base Directory). */
export const journalFolder = (configured: string | undefined, env: Env): string =>
  configured ?? join(env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "pulumi-irm");

/** The flag with which `irm recover list` and `clean` find that folder: they read the environment, but no configuration of a stack. */
export const folderFlag = (configured: string | undefined, env: Env): string => {
  const folder = journalFolder(configured, env);
  return folder === journalFolder(env.IRM_JOURNAL || undefined, env) ? "" : ` --folder "${folder}"`;
};

/** `stack` is organization/project/stack. */
export const journalPath = (stack: string, config: Config, env: Env, cwd: string): string => {
  const identity = JSON.stringify([backendOf(env, cwd), stack, config.baseUrl]);
  const digest = createHash("sha256").update(identity).digest("hex").slice(0, 12);
  const name = stack.replace(/[^\w.-]+/g, ".");
  return join(journalFolder(config.journal, env), `${name}.${digest}.jsonl`);
};

// A journal must not be in the work tree of the program. A change to the repository could add entries, and the run would adopt records that
// the program does not name. Whether the repository contains such a file today does not matter.

/** Why no journal may be in this folder; undefined if it may. The folder need not exist. `cwd` is in the work tree. */
export const workTreeProblem = (folder: string, cwd: string): string | undefined => {
  const place = realPathOf(resolve(cwd, folder));
  const tree = workTreesOf(realPathOf(cwd)).find((one) => isWithin(one, place));
  if (tree === undefined) return undefined;
  return (
    `the folder of the intent journals, ${folder}, is in the work tree ${tree}: a change to its files could make a run adopt records ` +
    "of others. Set a folder outside of it: irm:journal in the stack's configuration, or IRM_JOURNAL"
  );
};

/** The top level of the repository, and of the repositories around a submodule; without git the folder of Pulumi.yaml. */
const workTreesOf = (cwd: string): string[] => {
  const tops: string[] = [];
  for (let folder = cwd, last = ""; folder !== last; last = folder, folder = dirname(folder)) {
    const git = join(folder, ".git");
    if (!exists(git)) continue;
    tops.push(folder);
    // A submodule has a file that names a folder of the repository around it (gitrepository-layout(5)).
    if (!/^gitdir: .*[\\/]\.git[\\/]modules[\\/]/.test(textOrEmpty(git))) return tops;
  }
  if (tops.length > 0) return tops;
  const project = projectFolder(cwd, exists);
  return project === undefined ? [] : [project];
};

const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Resolves symbolic links in the part that exists; a link whose target does not exist counts as that target. */
const realPathOf = (path: string, links = 0): string => {
  try {
    return realpathSync.native(path);
  } catch {
    // A part of it does not exist.
  }
  const above = dirname(path);
  if (above === path) return path;
  const realPath = join(realPathOf(above, links), basename(path));
  if (links > LINKS_MAX) return realPath;
  let target: string;
  try {
    target = readlinkSync(realPath);
  } catch {
    // It is no link.
    return realPath;
  }
  return realPathOf(resolve(dirname(realPath), target), links + 1);
};

/** The limit of Linux (path_resolution(7)). */
const LINKS_MAX = 40;
