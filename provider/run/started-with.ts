// Whether this process has the variables that the engine was started with. An `environment` of Pulumi.STACK.yaml changes those of a run
// (https://www.pulumi.com/docs/esc/), and `envVarMappings` those of a provider: the author of a change controls both, but the job controls
// the addresses and credentials (client/addresses.ts). Only Linux shows it.
import { readFileSync } from "node:fs";
import { CREDENTIAL_VARIABLES } from "../../client/credential-settings.ts";
import type { Env } from "../../client/env.ts";
import { isEngine } from "../../pulumi/process.ts";

// It could name any secret of the job, even in a job without credentials for this API.
const ALWAYS = ["IRM_ALLOW_TOKEN_SOURCES"];
/** If the job sets one of these, none may differ. */
const TOGETHER = [...["IRM_BASE_URL", "IRM_AUTH_URL", "IRM_IDENTITY", "IRM_MOVED_FROM"], ...CREDENTIAL_VARIABLES];
// If it could differ, a proxy of the author's choice could answer as the service.
const BESIDE = ["NODE_TLS_REJECT_UNAUTHORIZED"];

/** Processes between the engine and a provider or a program: a shell, a language host. */
const LEVELS_MAX = 8;

/** A problem for each such variable. A run may have all of its settings from an `environment`, if the job has none. */
export const environmentProblems = (env: Env): string[] => {
  const before = environmentOfEngine(process.ppid) ?? env;
  const isOfJob = [...ALWAYS, ...TOGETHER].some((name) => before[name]);
  return [...ALWAYS, ...(isOfJob ? [...TOGETHER, ...BESIDE] : [])]
    .filter((name) => (env[name] ?? "") !== (before[name] ?? ""))
    .map(
      (name) =>
        `environment ${name}: it is not what the engine was started with, so an environment of the stack or envVarMappings of a provider has changed it; set it for the engine`,
    );
};

const environmentOfEngine = (pid: number, levels = LEVELS_MAX): Env | undefined => {
  try {
    const [program = ""] = textsOf(pid, "cmdline");
    if (isEngine(program)) return Object.fromEntries(textsOf(pid, "environ").map(entryOf));
    const parent = Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    return levels > 0 && parent > 1 ? environmentOfEngine(parent, levels - 1) : undefined;
  } catch {
    // The system does not show the variables, or the process has ended.
    return undefined;
  }
};

const textsOf = (pid: number, file: string): string[] => readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");

const entryOf = (text: string): [string, string] => {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
};

// Whether the engine saves its state after each step, or once at the end (docs/performance.md#checkpoints).

/** As the engine reads its variable (IsTruthy of github.com/pulumi/pulumi/blob/master/sdk/go/common/util/cmdutil/console.go). */
export const skipsCheckpoints = ({ PULUMI_SKIP_CHECKPOINTS: flag = "" }: Env): boolean =>
  flag === "1" || flag.toLowerCase() === "true";
