// Where the journal of a stack is. There is one file for each stack, backend and address of the API, so two stacks of the same name
// never adopt each other's records.
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Config, Env } from "../../client/config.ts";
import { projectMember, textOf } from "./project-file.ts";
import { workTreeProblem } from "./work-tree.ts";

/** Folder of the journals: configured, or below the user's state folder (XDG Base Directory). */
export const journalFolder = (configured: string | undefined, env: Env): string =>
  configured ?? join(env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "pulumi-irm");

/** What a command of `irm journal` needs to find that folder: it reads the environment, and no configuration of a stack. */
export const folderFlag = (configured: string | undefined, env: Env): string => {
  const folder = journalFolder(configured, env);
  return folder === journalFolder(env.IRM_JOURNAL || undefined, env) ? "" : ` --folder "${folder}"`;
};

/** Why no run may use the journals of that folder; undefined where it may. */
export const journalProblem = (configured: string | undefined, env: Env, cwd: string): string | undefined =>
  workTreeProblem(journalFolder(configured, env), cwd);

/** `stack` is organization/project/stack. */
export const journalPath = (stack: string, config: Config, env: Env, cwd: string): string => {
  const identity = JSON.stringify([backendOf(env, cwd), stack, config.baseUrl]);
  const digest = createHash("sha256").update(identity).digest("hex").slice(0, 12);
  const name = stack.replace(/[^\w.-]+/g, ".");
  return join(journalFolder(config.journal, env), `${name}.${digest}.jsonl`);
};

/** Address of the backend, "" where it is not known. In the order of the engine: the environment, the project's file, the last login. */
export const backendOf = (env: Env, cwd: string): string =>
  env.PULUMI_BACKEND_URL ||
  backendIn(projectMember(cwd, "backend")) ||
  currentLogin(join(pulumiHome(env), "credentials.json"));

/** Where the engine keeps logins and plugins. */
export const pulumiHome = ({ PULUMI_HOME }: Env): string => PULUMI_HOME || join(homedir(), ".pulumi");

const backendIn = (project: unknown): string => String((project as { url?: unknown } | null | undefined)?.url ?? "");

const currentLogin = (file: string): string => {
  try {
    return String((JSON.parse(textOf(file) || "{}") as { current?: unknown }).current ?? "");
  } catch {
    return "";
  }
};
