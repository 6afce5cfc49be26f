// A stack that is measured, as a user has it: the package installed beside the program, one process for each part, a passphrase, and
// none of what makes the tests fast.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { mintDevToken } from "../../../cli/command/serve-token.ts";
import { type ServerProcess, startServerProcess } from "../../harness/api-process.ts";
import { createStack, type Stack, type Started } from "../../harness/engine-stack.ts";
import type { Installation } from "./install.ts";
import { type Spent, spentBy } from "./process-tree.ts";
import { MODULES, resourcesOf, type Size, typescriptProgram, yamlProgram } from "./program.ts";

export type Form = "dynamic" | "native" | "yaml";

export interface Program {
  form: Form;
  size: Size;
  withSets?: boolean;
  /** in place of the program of that size */
  source?: string;
}

export interface Measured extends Spent {
  /** that the API got, for each resource */
  requests: number;
}

const USUAL = { PULUMI_CONFIG_PASSPHRASE: "not a secret", GOGC: "100", NODE_OPTIONS: "" };

export const openStack = async (
  { packages, plugin, languages, callsApi }: Installation,
  { form, size, withSets = false, source }: Program,
) => {
  const folder = mkdtempSync(join(packages, "run-"));
  const server = callsApi ? await startServerProcess(["--db", join(folder, "irm.db")]) : undefined;
  const organization = server?.organization ?? ORGANIZATION;
  const program = join(folder, "program");
  mkdirSync(program);
  const runtime = form === "yaml" ? "yaml" : "nodejs\nmain: index.js";
  const project = `name: bench\nruntime: ${runtime}\nplugins:\n  providers:\n    - name: irm\n      path: ${plugin}\n`;
  if (form === "yaml") writeFileSync(join(program, "Pulumi.yaml"), project + yamlProgram(organization, size));
  else {
    writeFileSync(join(program, "Pulumi.yaml"), project);
    writeFileSync(join(program, "package.json"), JSON.stringify({ name: "bench", type: "module" }));
    const own = source ?? typescriptProgram(MODULES[form], size, withSets);
    writeFileSync(join(program, "index.js"), stripTypeScriptTypes(own));
  }
  const { PATH = "" } = process.env;
  const env: Record<string, string> = {
    ...USUAL,
    ...(server && (await credentials(server, folder))),
    ORG: organization,
    GROUPS: String(size.groups),
    ...(languages !== undefined && form === "yaml" && { PATH: [languages, PATH].join(delimiter) }),
  };
  const stack = await createStack({ folder, program, env });
  const count = resourcesOf(size, withSets);
  const checkpoint = join(folder, "state", ".pulumi", "stacks", "bench", "dev.json");
  const emptyBytes = statSync(checkpoint).size;
  return {
    /** `pulumi ARGS`, or `irm ARGS` of the package, which must succeed */
    measure: async (args: readonly string[], own: Readonly<Record<string, string>> = {}): Promise<Measured> => {
      await server?.takeRequests();
      const [first, ...rest] = args;
      const irm = { env: stack.env, start: (...all: string[]) => startIrm(packages, program, all, stack.env) };
      const spent = await (first === "irm" ? commandOf(irm, rest, own) : commandOf(stack, args, own));
      const requests = (await server?.takeRequests())?.length ?? 0;
      return { ...spent, requests: requests / count };
    },
    /** for each resource */
    stateBytes: (): number => (statSync(checkpoint).size - emptyBytes) / count,
    close: async (): Promise<void> => {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** The organization of a provider that calls nothing. */
const ORGANIZATION = "0123456789abcdef0123456789abcdef01234567";

const credentials = async (server: ServerProcess, folder: string): Promise<Record<string, string>> => {
  const tokenFile = join(folder, "identity-token");
  writeFileSync(tokenFile, await mintDevToken(server.issuer, { subject: "owner" }), { mode: 0o600 });
  return {
    IRM_BASE_URL: server.baseUrl,
    IRM_AUTH_URL: server.authUrl,
    IRM_IDENTITY: server.identity,
    IRM_IDENTITY_TOKEN_FILE: tokenFile,
    IRM_JOURNAL: join(folder, "journal"),
    // For the program of test/bench/plain, which has no credentials of its own.
    API_TOKEN: server.token,
  };
};

/** The command of the package, as npx runs it. */
const startIrm = (packages: string, cwd: string, args: string[], env: NodeJS.ProcessEnv): Started => {
  const main = join(packages, "node_modules", "pulumi-irm", "lib", "cli", "main.js");
  const child = spawn(process.execPath, [main, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const exited = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
  const result = Promise.all([exited, output]).then(([code, [stdout, stderr]]) => ({
    ...{ code, stdout, stderr, output: stdout + stderr },
  }));
  return { pid: child.pid as number, output: () => "", exited: exited.then(() => undefined), result };
};

/** Throws with the end of its output where it fails. */
const commandOf = async (
  { env: usual, start }: Pick<Stack, "env" | "start">,
  args: readonly string[],
  own: Readonly<Record<string, string>>,
): Promise<Spent> => {
  const before = { ...usual };
  // The stack reads its environment at each command.
  Object.assign(usual, own);
  const started = start(...args);
  for (const name of Object.keys(own)) usual[name] = before[name];
  const spent = await spentBy(started.pid, started.result);
  const { code, output } = await started.result;
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}:\n${output.slice(-4000)}`);
  return spent;
};
