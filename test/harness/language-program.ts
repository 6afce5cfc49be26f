// A program in YAML or Python in its own folder, against the server of a workplace, with the commands that a person types.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { inject } from "vitest";
import { root } from "./api-process.ts";
import { createStack, type Stack } from "./engine-stack.ts";
import { configure, type Program, type Workplace } from "./engine-workplace.ts";
import { createPythonEnvironment } from "./python.ts";

export interface LanguageProgramOptions {
  /** beside that of the workplace */
  env?: Readonly<Record<string, string>>;
  /** folder of the provider `irm` */
  plugin?: string;
}

export interface PythonProgramOptions extends LanguageProgramOptions {
  /** packages that it imports, as files */
  wheels?: readonly string[];
}

/** `source` is what follows the name and the runtime in Pulumi.yaml. */
export const createYamlProgram = (
  place: Workplace,
  name: string,
  source: string,
  { env, plugin }: LanguageProgramOptions = {},
): Promise<Program> => {
  const head = projectOf(name, "yaml", plugin);
  return open(place, name, "Pulumi.yaml", env, (text) => head + text, source);
};

/** `source` is `__main__.py`. */
export const createPythonProgram = (
  place: Workplace,
  name: string,
  source: string,
  { env, plugin, wheels }: PythonProgramOptions = {},
): Promise<Program> => {
  const folder = join(place.folder, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "Pulumi.yaml"), projectOf(name, "python", plugin));
  const { folder: sdk, reason } = inject("pythonSdk");
  if (sdk === undefined) throw new Error(reason);
  const python = createPythonEnvironment(join(folder, "venv"), sdk, wheels);
  return open(place, name, "__main__.py", { ...python, ...env }, (text) => text, source);
};

/** Why tests in Python are left out. Where they have to run, a machine without Python is a failure (CONTRIBUTING.md). */
export const pythonIsMissing = (): string | undefined =>
  process.env.IRM_REQUIRE_PYTHON === "1" ? undefined : inject("pythonSdk").reason;

const projectOf = (name: string, runtime: string, plugin: string | undefined): string => {
  const plugins = plugin && `plugins:\n  providers:\n    - name: irm\n      path: ${plugin}\n`;
  return `name: ${name}\nruntime: ${runtime}\n${plugins ?? ""}`;
};

/** A project of examples/ as a user has it, with the plugin of the package. */
export const createExample = async (place: Workplace, example: string, env = {}): Promise<Stack> => {
  const folder = join(place.folder, example);
  cpSync(join(root, "examples", example), folder, { recursive: true });
  mkdirSync(join(folder, "node_modules", "pulumi-irm"), { recursive: true });
  symlinkSync(inject("pluginFolder"), join(folder, "node_modules", "pulumi-irm", "plugin"));
  return createStack({ folder, program: folder, env: environmentOf(place, env) });
};

const open = async (
  place: Workplace,
  name: string,
  file: string,
  own: Readonly<Record<string, string>> | undefined,
  textFromSource: (source: string) => string,
  source: string,
): Promise<Program> => {
  const folder = join(place.folder, name);
  mkdirSync(folder, { recursive: true });
  const write = (text: string) => writeFileSync(join(folder, file), textFromSource(text));
  write(source);
  const stack = await createStack({ folder, program: folder, env: environmentOf(place, own) });
  return { ...stack, folder, write, configure: (config) => configure(folder, config) };
};

/** With the engine that has the hosts of these languages. */
const environmentOf = (place: Workplace, own: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const engine = inject("languagesEngine");
  const { PATH = process.env.PATH ?? "", ...env } = { ...place.env, ...own };
  return { ...env, PATH: engine === undefined ? PATH : [engine, PATH].join(delimiter) };
};
