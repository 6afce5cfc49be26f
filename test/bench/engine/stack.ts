// A stack that is measured, as a user has it: the package installed beside the program, one process for each part, a passphrase, and
// none of what makes the tests fast.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { delimiter, join } from "node:path";
import { createStack, type Stack, type Started } from "../../harness/engine-stack.ts";
import { createWorkplace } from "../../harness/engine-workplace.ts";
import { startCommandIn } from "../../support/command.ts";
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
  const place = callsApi ? await createWorkplace() : undefined;
  const organization = place?.server.organization ?? ORGANIZATION;
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
    // The program of test/bench/plain has no credentials of its own.
    ...(place && { ...place.env, API_TOKEN: place.server.token }),
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
      await place?.server.takeRequests();
      const [first, ...rest] = args;
      const irm = { env: stack.env, start: (...all: string[]) => startIrm(packages, program, all, stack.env) };
      const spent = await (first === "irm" ? commandOf(irm, rest, own) : commandOf(stack, args, own));
      const requests = (await place?.server.takeRequests())?.length ?? 0;
      return { ...spent, requests: requests / count };
    },
    /** for each resource */
    stateBytes: (): number => (statSync(checkpoint).size - emptyBytes) / count,
    close: async (): Promise<void> => {
      await place?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** The organization of a provider that calls nothing. */
const ORGANIZATION = "0123456789abcdef0123456789abcdef01234567";

/** The command of the package, as npx runs it. */
const startIrm = (packages: string, cwd: string, args: string[], env: NodeJS.ProcessEnv): Command => {
  const main = join(packages, "node_modules", "pulumi-irm", "lib", "cli", "main.js");
  const { process: child, finished } = startCommandIn({ cwd, env, main }, args);
  const result = finished.then(({ code, stdout, stderr }) => ({ code: code ?? -1, output: stdout + stderr }));
  return { pid: child.pid as number, result };
};

interface Command extends Pick<Started, "pid"> {
  result: Promise<{ code: number; output: string }>;
}

/** Throws with the end of its output where it fails. */
const commandOf = async (
  { env: usual, start }: Pick<Stack, "env"> & { start(...args: readonly string[]): Command },
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
