// The engine's state, as this run reads it: each part once, on first use. Only a process that an engine has started has one.
import { readFileSync } from "node:fs";
import type { Env } from "../../client/config.ts";
import { CREDENTIAL_VARIABLES } from "../../client/credential-settings.ts";
import { engineWith, withoutOptions } from "../../pulumi/command.ts";
import { engineAgeMs, findEngine, isEngine } from "../../pulumi/process.ts";
import {
  type EngineRun,
  type EngineState,
  EngineStateError,
  readEngineRuns,
  readEngineState,
} from "../../pulumi/state.ts";
import { getOrInsert } from "../../schema/index.ts";

/** A stack is organization/project/stack. Errors: EngineStateError. */
export interface StoredStacks {
  /** as it was when this run first asked */
  engineState(stack: string): Promise<EngineState>;
  /** the same, with the secrets in clear text */
  engineSecrets(stack: string): Promise<EngineState>;
  /** the runs that ended, the newest first */
  engineRuns(stack: string): Promise<EngineRun[]>;
  /** for how long this run of the engine has been under way */
  engineAgeMs(): number;
}

interface Program {
  env: Env;
  /** folder of the process: the engine starts it in the program's folder, whose Pulumi.yaml may name the backend */
  cwd: string;
  /** aborted by ^C */
  cancelled?: AbortSignal | undefined;
}

const TIMEOUT_MS = 60_000;

/** Runs the engine of this process, to read its stored data. */
export const askEngine = ({ env, cwd, cancelled }: Program): ((args: readonly string[]) => Promise<string>) => {
  // Most runs ask nothing, so they need not look for the engine.
  return (args) => {
    // Go's garbage collector takes a fifth of the processor time, and the command ends before it needs the memory.
    const own = { ...withoutOptions(env), PULUMI_SKIP_UPDATE_CHECK: "true", GOGC: "400" };
    const engine = engineWith([findEngine()?.program ?? "pulumi"], { signal: cancelled, timeoutMs: TIMEOUT_MS });
    return engine.must(args, { cwd, env: own });
  };
};

export const storedStacks = (program: Program): StoredStacks => {
  const ask = askEngine(program);
  return {
    engineState: once((stack) => readEngineState(ask, stack)),
    engineSecrets: once((stack) => readEngineState(ask, stack, { showSecrets: true })),
    engineRuns: once((stack) => readEngineRuns(ask, stack)),
    engineAgeMs,
  };
};

const once = <T>(read: (stack: string) => Promise<T>): ((stack: string) => Promise<T>) => {
  const found = new Map<string, Promise<T>>();
  return (stack) => getOrInsert(found, stack, () => read(stack));
};

const refuse = async () => {
  throw new EngineStateError("this process was not started by an engine");
};

/** Of a process that no engine has started. */
export const noStoredStacks: StoredStacks = {
  engineState: refuse,
  engineSecrets: refuse,
  engineRuns: refuse,
  engineAgeMs: () => 0,
};

// Whether this process has the variables that the engine was started with. An `environment` of Pulumi.STACK.yaml changes those of a run
// (https://www.pulumi.com/docs/esc/), and `envVarMappings` those of a provider. The author of a change controls both, but the job controls
// the addresses and credentials (client/addresses.ts). Only Linux shows it.

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

const textsOf = (pid: number, file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");

const entryOf = (text: string): [string, string] => {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
};

// Whether the engine saves its state after each step, or once at the end (docs/internals/performance.md#checkpoints).

/** As the engine reads its variable (IsTruthy of github.com/pulumi/pulumi/blob/master/sdk/go/common/util/cmdutil/console.go). */
export const skipsCheckpoints = ({ PULUMI_SKIP_CHECKPOINTS: flag = "" }: Env): boolean =>
  flag === "1" || flag.toLowerCase() === "true";
