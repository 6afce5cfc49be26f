// A runner of GitHub Actions for one job: it executes the steps of a workflow and of composite actions as they are written, with bash, the
// files for outputs, environment, path and summary, and actions of others in place of which functions stand.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { capture } from "../../../scripts/base/child.mjs";
import { evaluate, interpolate, isMet, type Scope, type Value } from "./expression.ts";

export interface Step {
  id?: string;
  name?: string;
  if?: string;
  uses?: string;
  with?: Readonly<Record<string, unknown>>;
  run?: string;
  shell?: string;
  env?: Record<string, string>;
  "working-directory"?: string;
}

interface Action {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}

/** A job of a workflow. */
export interface JobText {
  needs?: string | string[];
  if?: string;
  environment?: string;
  permissions?: Record<string, string>;
  outputs?: Record<string, string>;
  steps: Step[];
}

/** Takes the inputs of an action of others; returns its outputs. Throws where the action would fail. */
export type Stub = (inputs: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv) => Record<string, string>;

export interface RunnerOptions {
  /** of the runner: its temporary files */
  folder: string;
  /** of the checkout */
  workspace: string;
  /** contexts: github, vars, secrets, needs */
  contexts: Readonly<Record<string, Value>>;
  /** of every step */
  env: Readonly<Record<string, string>>;
  /** by `owner/name`, also `owner/name/path` */
  actions: Readonly<Record<string, Stub | { folder: string }>>;
}

export type JobResult = Awaited<ReturnType<typeof runJob>>;

/** Those of a composite action. */
interface Composite {
  inputs?: Record<string, string>;
  action?: string;
  env?: Record<string, string>;
}

export const runJob = async (
  job: readonly Step[],
  { folder, workspace, contexts, env: given, actions }: RunnerOptions,
) => {
  let [summary, log, count] = ["", "", 0];
  /** names, ids or actions of the steps that ran, those of composite actions too */
  const ran: string[] = [];
  /** with what steps add by GITHUB_ENV and GITHUB_PATH */
  const jobEnv: NodeJS.ProcessEnv = { ...given };
  const temp = join(folder, "temp");
  mkdirSync(temp, { recursive: true });

  const runSteps = async (steps: readonly Step[], { inputs = {}, action, env: own }: Composite) => {
    let isFailed = false;
    const outputs: Record<string, Record<string, string>> = {};
    for (const step of steps) {
      const scope: Scope = {
        contexts: {
          ...contexts,
          github: { ...(contexts.github as object), ...(action && { action_path: action }) },
          runner: { temp, os: "Linux" },
          inputs,
          env: { ...jobEnv, ...own } as Record<string, string>,
          steps: stepsWith(outputs),
        },
        functions: {
          success: () => !isFailed,
          failure: () => isFailed,
          always: () => true,
          cancelled: () => false,
        },
      };
      if (!isMet(step.if, scope)) continue;
      ran.push(step.name ?? step.uses?.replace(/@.*/, "") ?? step.id ?? "run");
      const env = { ...own, ...mapValues(step.env ?? {}, (text) => interpolate(String(text), scope)) };
      const made =
        step.uses === undefined ? await runScript(step, env, scope, action) : await useAction(step, env, scope);
      if (step.id !== undefined) outputs[step.id] = made.outputs;
      isFailed ||= made.isFailed;
    }
    return { isFailed, outputs };
  };

  const runScript = async (step: Step, env: Record<string, string>, scope: Scope, action: string | undefined) => {
    const own = join(folder, `step-${++count}`);
    mkdirSync(own);
    const names = ["OUTPUT", "ENV", "PATH", "STEP_SUMMARY"] as const;
    const files = names.map((name) => [`GITHUB_${name}`, join(own, name)] as const);
    for (const [, file] of files) writeFileSync(file, "");
    const script = join(own, "script.sh");
    writeFileSync(script, interpolate(step.run as string, scope));
    if (action !== undefined && step.shell !== "bash") throw new Error("a step of a composite action needs its shell");
    const { code, output } = await capture("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], {
      cwd: join(workspace, interpolate(step["working-directory"] ?? ".", scope)),
      env: {
        ...{ ...jobEnv, ...env, ...Object.fromEntries(files), RUNNER_TEMP: temp, GITHUB_WORKSPACE: workspace },
        ...(action !== undefined && { GITHUB_ACTION_PATH: action }),
      },
    });
    log += output;
    const read = (name: (typeof names)[number]): string => readFileSync(join(own, name), "utf8");
    Object.assign(jobEnv, pairsOf(read("ENV")));
    for (const path of read("PATH").split("\n").filter(Boolean)) jobEnv.PATH = [path, jobEnv.PATH].join(delimiter);
    summary += read("STEP_SUMMARY");
    return { isFailed: code !== 0, outputs: pairsOf(read("OUTPUT")) };
  };

  const useAction = async (step: Step, env: Record<string, string>, scope: Scope): Promise<Made> => {
    const [name = ""] = (step.uses as string).split("@");
    const action = actions[name];
    if (action === undefined) throw new Error(`there is no action ${name}`);
    const given = mapValues(step.with ?? {}, (value) => interpolate(String(value), scope));
    if (typeof action === "function") {
      const all: NodeJS.ProcessEnv = { ...jobEnv, ...env, GITHUB_WORKSPACE: workspace };
      const outputs = action(given, all);
      if (all.PATH !== jobEnv.PATH) jobEnv.PATH = all.PATH;
      return { isFailed: false, outputs };
    }
    const { inputs, outputs, runs } = parse(readFileSync(join(action.folder, "action.yml"), "utf8")) as Action;
    const unknown = Object.keys(given).filter((one) => !Object.hasOwn(inputs, one));
    if (unknown.length > 0) throw new Error(`unexpected inputs of ${name}: ${unknown.join(", ")}`);
    const values = { ...mapValues(inputs, (one) => interpolate(String(one.default ?? ""), scope)), ...given };
    const made = await runSteps(runs.steps, { inputs: values, action: action.folder, env });
    const inner = { ...scope, contexts: { ...scope.contexts, inputs: values, steps: stepsWith(made.outputs) } };
    const expressionOf = (text: string): string => text.replace(/^\$\{\{(.*)\}\}$/, "$1");
    return {
      isFailed: made.isFailed,
      outputs: mapValues(outputs, ({ value }) => String(evaluate(expressionOf(value), inner) ?? "")),
    };
  };

  // Outputs are by the id of the step.
  const { isFailed, outputs } = await runSteps(job, {});
  return { conclusion: isFailed ? "failure" : "success", outputs, summary, log, ran };
};

interface Made {
  isFailed: boolean;
  outputs: Record<string, string>;
}

/** The context `steps`. */
export const stepsWith = (all: Readonly<Record<string, Record<string, string>>>): Value =>
  mapValues(all, (outputs) => ({ outputs }));

/** `name=value`, and `name<<END` with lines up to `END`. */
const pairsOf = (text: string): Record<string, string> => {
  const pairs: Record<string, string> = {};
  const lines = text.split("\n");
  while (lines.length > 0) {
    const line = lines.shift() as string;
    if (line === "") continue;
    const [, name, end] = /^([\w-]+)<<(.+)$/.exec(line) ?? [];
    if (name !== undefined) {
      const at = lines.indexOf(end as string);
      if (at < 0) throw new Error(`the output ${name} does not end`);
      pairs[name] = lines.splice(0, at).join("\n");
      lines.shift();
    } else {
      const at = line.indexOf("=");
      if (at < 1) throw new Error(`${line} is no output`);
      pairs[line.slice(0, at)] = line.slice(at + 1);
    }
  }
  return pairs;
};

const mapValues = <V, W>(values: Readonly<Record<string, V>>, map: (value: V) => W): Record<string, W> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
