// A program in YAML, Python or Go in its own folder, with the native plugin, against the server of a workplace: the commands that a person
// types.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { inject } from "vitest";
import { root } from "./api-process.ts";
import { createStack, type Stack } from "./engine-stack.ts";
import { configure, type Program, type Workplace } from "./engine-workplace.ts";
import { writeGoModule } from "./go.ts";
import { createPythonEnvironment } from "./python.ts";

/** `source` is what follows the name, the runtime and the plugins in Pulumi.yaml. `env` adds to that of the workplace. */
export const createYamlProgram = async (
  place: Workplace,
  name: string,
  source: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Program> => {
  const folder = folderOf(place, name);
  const write = (text: string) => writeFileSync(join(folder, "Pulumi.yaml"), projectOf(name, "yaml") + text);
  write(source);
  return { ...(await openStack(place, folder, env)), ...ownOf(folder), write };
};

/** `source` is `__main__.py`. */
export const createPythonProgram = async (
  place: Workplace,
  name: string,
  source: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Program> => {
  const folder = folderOf(place, name);
  writeFileSync(join(folder, "Pulumi.yaml"), projectOf(name, "python"));
  const write = (text: string) => writeFileSync(join(folder, "__main__.py"), text);
  write(source);
  const all = { ...env, ...activePython(folder, inject("pythonWheel")) };
  return { ...(await openStack(place, folder, all)), ...ownOf(folder), write };
};

/** `source` is `main.go`, and `writeModule` writes its `go.mod`. */
export const createGoProgram = async (
  place: Workplace,
  name: string,
  source: string,
  writeModule = writeGoModule,
): Promise<Program> => {
  const folder = folderOf(place, name);
  writeFileSync(join(folder, "Pulumi.yaml"), projectOf(name, "go"));
  const write = (text: string) => writeFileSync(join(folder, "main.go"), text);
  write(source);
  await writeModule(folder);
  return { ...(await openStack(place, folder, {}, goEngine())), ...ownOf(folder), write };
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

const folderOf = (place: Workplace, name: string): string => {
  const folder = join(place.folder, name);
  mkdirSync(folder);
  return folder;
};

const projectOf = (name: string, runtime: string): string => `name: ${name}
runtime: ${runtime}
plugins:
  providers:
    - name: irm
      path: ${inject("pluginFolder")}
`;

const ownOf = (folder: string): Pick<Program, "folder" | "configure"> => ({
  folder,
  configure: (config) => configure(folder, config),
});

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
