// A stack of a real engine: its commands, run as a person or CI runs them, with a separate backend and home.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ENGINE_NODE } from "../support/compiled.ts";
import { keyService } from "./key-service.ts";

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
  /** both, in the order that they came */
  output: string;
}

export type Started = ReturnType<typeof pulumi>;

export type Stack = Awaited<ReturnType<typeof createStack>>;

export interface StateResource {
  urn: string;
  type: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  dependencies?: string[];
}

export interface StackOptions {
  /** folder for backend and home */
  folder: string;
  /** folder of the Pulumi.yaml; the engine writes Pulumi.<name>.yaml beside it */
  program: string;
  name?: string;
  env: Readonly<Record<string, string>>;
  /** `host:port` of a process that runs the program; without it the engine starts one for each run */
  languageHost?: string;
}

export const createStack = async ({ folder, program, name = "dev", env, languageHost }: StackOptions) => {
  const [state, home] = [join(folder, "state"), join(folder, "home")];
  const [, project = ""] = readFileSync(join(program, "Pulumi.yaml"), "utf8").match(/^name: (.+)$/m) ?? [];
  const files = {
    stack: `organization/${project}/${name}`,
    settings: join(program, `Pulumi.${name}.yaml`),
    backend: join(state, ".pulumi", "meta.yaml"),
    checkpoint: join(state, ".pulumi", "stacks", project, `${name}.json`),
  };
  mkdirSync(state, { recursive: true });
  const keys = await keyService();
  const all: NodeJS.ProcessEnv = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_HOME: home,
    ...keys.env,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    NO_COLOR: "1",
    // A command is over before it needs the memory that the collector of Go would free.
    GOGC: "off",
    ...ENGINE_NODE,
    ...env,
  };
  /** What a person or CI types, in the folder of the program. */
  const commandsWith = (client: readonly string[]) => {
    /** Begins `pulumi ARGS`. */
    const start = (...args: string[]): Started => {
      // `stack init` names it itself, and a plugin belongs to no stack.
      const stack = args.includes("init") || args[0] === "plugin" ? [] : ["--stack", name];
      const own = RUNS.test(args[0] ?? "") ? client : [];
      return pulumi(program, [...args, ...own, ...stack, "--non-interactive", "--color", "never"], all);
    };
    const run = (...args: string[]): Promise<CommandResult> => start(...args).result;
    /** The same; a failure throws with the output. */
    const must = async (...args: string[]): Promise<CommandResult> => {
      const result = await run(...args);
      if (result.code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${result.code}:\n${result.output}`);
      return result;
    };
    return { start, run, must };
  };
  const commandLine = commandsWith([]);
  // Without a passphrase, the key service keeps the key of the stack's secrets.
  const { PULUMI_CONFIG_PASSPHRASE: passphrase } = env;
  const provider = passphrase === undefined ? keys.url : "passphrase";
  const key = passphrase ?? provider;
  const first = initialised.get(key);
  if (first === undefined) {
    const own = commandLine.must("stack", "init", name, "--secrets-provider", provider).then(() => readFiles(files));
    initialised.set(key, own);
    await own;
  } else writeFiles(files, await first);
  const client = `--client=${languageHost}`;
  const isShared = languageHost !== undefined;
  const readCheckpoint = () => {
    const text = readFileSync(files.checkpoint, "utf8");
    return { text, state: JSON.parse(text) as { checkpoint: { latest: Deployment } } };
  };
  return {
    ...(isShared ? commandsWith([client]) : commandLine),
    /** folder of a `pulumi` whose programs run in the process that was given; undefined without one */
    sharedEngine: isShared ? writeSharedEngine(folder, client, all.PATH) : undefined,
    /** the same, where the engine starts a process for each run of the program */
    commandLine,
    /** the environment of its commands */
    env: all,
    /** the deployment that the engine keeps, read from its backend */
    state: () => {
      const { text, state } = readCheckpoint();
      const { resources = [], pending_operations: pending = [] } = state.checkpoint.latest;
      return { resources, pending, text };
    },
    /** Puts into it the create of a resource like the one of this name, which a killed run had begun. */
    beginCreate: (like: string, name: string, inputs: Record<string, unknown> = {}): void => {
      const { state } = readCheckpoint();
      const { latest } = state.checkpoint;
      const found = latest.resources?.find(({ urn }) => urn.endsWith(`::${like}`)) as StateResource;
      const { id: _id, outputs: _outputs, ...own } = found;
      const resource = { ...own, urn: own.urn.replace(/[^:]*$/, name), inputs: { ...own.inputs, name, ...inputs } };
      latest.pending_operations = [{ type: "creating", resource }];
      writeFileSync(files.checkpoint, JSON.stringify(state));
    },
  };
};

/** For a command that starts the engine itself. */
const writeSharedEngine = (folder: string, client: string, path: string | undefined): string => {
  const own = join(folder, "shared-engine");
  mkdirSync(own);
  const engine = join(engineFolder(path), "pulumi");
  const script = `#!/bin/sh
case $1 in preview | up) exec "${engine}" "$@" "${client}" ;; *) exec "${engine}" "$@" ;; esac
`;
  writeFileSync(join(own, "pulumi"), script, { mode: 0o755 });
  return own;
};

/** The folder of the first engine of a PATH. */
export const engineFolder = (path = process.env.PATH ?? ""): string =>
  path.split(delimiter).find((one) => existsSync(join(one, "pulumi"))) ?? "";

/** The commands that run the program. */
const RUNS = /^(preview|up)$/;

interface Deployment {
  resources?: StateResource[];
  pending_operations?: { type: string; resource: StateResource }[];
}

type StackFiles = Record<"stack" | "settings" | "backend" | "checkpoint", string>;

// Only the first stack of a worker is initialised, and the others get the same files: one for each passphrase, and one for the key service.
const initialised = new Map<string, Promise<StackFiles>>();

/** What a stack's settings say of its key. */
const KEY = /^(encryptionsalt|secretsprovider|encryptedkey): .*\n/gm;

export const keyOf = (settings: string): string => settings.match(KEY)?.join("") ?? "";

const readFiles = ({ stack, settings, backend, checkpoint }: StackFiles): StackFiles => ({
  stack,
  // Not the configuration that a test has written there.
  settings: keyOf(readFileSync(settings, "utf8")),
  backend: readFileSync(backend, "utf8"),
  checkpoint: readFileSync(checkpoint, "utf8"),
});

const writeFiles = (files: StackFiles, { stack, settings, backend, checkpoint }: StackFiles): void => {
  mkdirSync(join(files.checkpoint, ".."), { recursive: true });
  const configuration = existsSync(files.settings) ? readFileSync(files.settings, "utf8") : "";
  writeFileSync(files.settings, settings + configuration);
  writeFileSync(files.backend, backend);
  writeFileSync(files.checkpoint, checkpoint.replaceAll(`"${stack}"`, `"${files.stack}"`));
};

const pulumi = (cwd: string, args: string[], env: NodeJS.ProcessEnv) => {
  const child = spawn("pulumi", args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const result = { stdout: "", stderr: "", output: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      result[stream] += text;
      result.output += text;
    });
  }
  const closed = Promise.withResolvers<CommandResult>();
  child.on("error", closed.reject);
  child.on("close", (code) => closed.resolve({ ...result, code: code ?? -1 }));
  return {
    pid: child.pid as number,
    /** both streams, so far */
    output: () => result.output,
    /** the end of the engine's process; its child processes may live on */
    exited: new Promise<void>((resolve) => child.on("exit", () => resolve())),
    /** the end of all processes that write to its streams */
    result: closed.promise,
  };
};
