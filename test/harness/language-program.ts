// A program in YAML, Python or Go in its own folder, with the native plugin, against the server of a workplace.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { inject } from "vitest";
import { GO_MODULE } from "../../plugin/schema/language.ts";
import { GO_SDK } from "../../scripts/generate/sdk-schema.ts";
import { runGo } from "../../scripts/setup/go-build.mjs";
import { root } from "./api-process.ts";
import { createStack, type Stack } from "./engine-stack.ts";
import { configure, type Program, type Workplace } from "./engine-workplace.ts";
import { createPythonEnvironment } from "./python.ts";

/** Its folder and its stack; `write` replaces its source. */
const open = async (
  place: Workplace,
  folder: string,
  write: Program["write"],
  source: string,
  ...how: [own?: Readonly<Record<string, string>>, engine?: string]
): Promise<Program> => {
  write(source);
  const configureHere: Program["configure"] = (config) => configure(folder, config);
  return { ...(await openStack(place, folder, ...how)), folder, configure: configureHere, write };
};

/** `source` is what follows the name, the runtime and the plugins in Pulumi.yaml. `env` adds to that of the workplace. */
export const createYamlProgram = async (
  place: Workplace,
  name: string,
  source: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Program> => {
  const folder = folderOf(place, name);
  const write = (text: string) => writeFileSync(join(folder, "Pulumi.yaml"), projectOf(name, "yaml") + text);
  return open(place, folder, write, source, env);
};

/** `source` is `__main__.py`. */
export const createPythonProgram = async (
  place: Workplace,
  name: string,
  source: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Program> => {
  const folder = folderOf(place, name, "python");
  const write = (text: string) => writeFileSync(join(folder, MAIN.python), text);
  return open(place, folder, write, source, { ...env, ...activePython(folder, inject("pythonWheel")) });
};

/** `source` is `main.go`, and `writeModule` writes its `go.mod`. */
export const createGoProgram = async (
  place: Workplace,
  name: string,
  source: string,
  writeModule = writeGoModule,
): Promise<Program> => {
  const folder = folderOf(place, name, "go");
  const write = (text: string) => writeFileSync(join(folder, MAIN.go), text);
  // The module requires what the program imports.
  write(source);
  await writeModule(folder);
  return open(place, folder, write, source, {}, goEngine());
};

/** The module of a program in Go that uses our package, as a user has it after the commands of docs/resources.md#native-plugin. */
const writeGoModule = async (folder: string): Promise<void> => {
  writeFileSync(join(folder, "go.mod"), "module access\n\ngo 1.21\n");
  const [required, replaced] = [`-require=${GO_MODULE}@v0.0.0`, `-replace=${GO_MODULE}=${join(root, GO_SDK)}`];
  await runGo(folder, ["mod", "edit", required, replaced]);
  await runGo(folder, ["mod", "tidy"]);
};

const MAIN = { python: "__main__.py", go: "main.go" };

/** A stack whose program may be in each of these languages, one after the other. It begins in TypeScript. Use its `commandLine`. */
export const createMovingProgram = async (
  place: Workplace,
  name: string,
  source: string,
): Promise<
  Program & { continueIn(language: "typescript" | "yaml" | keyof typeof MAIN, source: string): Promise<void> }
> => {
  const own = { ...place.env, ...(withoutPython ? {} : activePython(place.folder, inject("pythonWheel"))) };
  const hosts = envWithHosts(envWithHosts(own), goEngine());
  const program = await place.program(name, source, hosts, { plugin: inject("pluginFolder") });
  const project = join(program.folder, "Pulumi.yaml");
  const typescript = readFileSync(project, "utf8");
  return {
    ...program,
    // The shared process runs TypeScript only.
    sharedEngine: undefined,
    continueIn: async (language, own) => {
      writeFileSync(project, language === "typescript" ? typescript : projectOf(name, language));
      if (language === "typescript") program.write(own);
      else if (language === "yaml") appendFileSync(project, own);
      else writeFileSync(join(program.folder, MAIN[language]), own);
      if (language === "go") await writeGoModule(program.folder);
    },
  };
};

/** A project of examples/ as in a clone after `npm run build`. */
export const createExample = async (place: Workplace, example: string): Promise<Stack> => {
  const clone = folderOf(place, `clone-${example}`);
  const folder = join(clone, "examples", example);
  cpSync(join(root, "examples", example), folder, { recursive: true });
  mkdirSync(join(clone, "dist"));
  symlinkSync(inject("pluginFolder"), join(clone, "dist", "plugin"));
  if (!existsSync(join(folder, "requirements.txt"))) return openStack(place, folder);
  const wheel = inject("pythonWheel");
  cpSync(wheel, join(clone, "release", basename(wheel)));
  return openStack(place, folder, activePython(folder, "--requirement", "requirements.txt"));
};

/** Empty, or why tests in Python are left out: the end of their titles. Where they have to run, they fail (CONTRIBUTING.md). */
export const withoutPython = ((): string => {
  const { reason } = inject("pythonSdk");
  return reason === undefined || process.env.IRM_REQUIRE_PYTHON === "1" ? "" : ` (${reason})`;
})();

/** The same for Go: they take minutes to compile, so only `npm run soak` runs them. */
export const withoutGo = inject("goEngine") === null ? " (npm run soak -- --only go)" : "";

/** Its engine has the host of Go beside those of the other languages, or is on the PATH. */
const goEngine = (): string | undefined => inject("goEngine") ?? undefined;

/** A new folder, with the project of a program in this language. */
const folderOf = (place: Workplace, name: string, runtime?: string): string => {
  const folder = join(place.folder, name);
  mkdirSync(folder);
  if (runtime !== undefined) writeFileSync(join(folder, "Pulumi.yaml"), projectOf(name, runtime));
  return folder;
};

const projectOf = (name: string, runtime: string): string => `name: ${name}
runtime: ${runtime}
plugins:
  providers:
    - name: irm
      path: ${inject("pluginFolder")}
`;

/** An environment with these packages, active as in a shell: the host that is built does not read `virtualenv` of Pulumi.yaml. */
const activePython = (folder: string, ...packages: string[]): Record<string, string> => {
  const { folder: sdk, reason } = inject("pythonSdk");
  if (sdk === undefined) throw new Error(reason);
  return createPythonEnvironment(folder, sdk, packages);
};

const openStack = (
  place: Workplace,
  program: string,
  own: Readonly<Record<string, string>> = {},
  engine = inject("languagesEngine"),
): Promise<Stack> => createStack({ folder: program, program, env: envWithHosts({ ...place.env, ...own }, engine) });

/** With the engine that has the hosts of these languages on the PATH. */
const envWithHosts = (
  env: Readonly<Record<string, string>>,
  engine = inject("languagesEngine"),
): Record<string, string> => {
  const { PATH = process.env.PATH ?? "" } = env;
  return { ...env, PATH: engine === undefined ? PATH : [engine, PATH].join(delimiter) };
};
