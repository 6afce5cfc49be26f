// The places of providers' executables (https://github.com/pulumi/pulumi/blob/master/sdk/go/common/workspace/plugins.go), in the engine's order:
// PULUMI_DEBUG_PROVIDERS, folders of the project, the PATH, and then its own folder of plugins.
import {
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { documentIn } from "../../../pulumi/project.ts";
import { isObject, type Json } from "../../../schema/index.ts";
import { isAccessible } from "../../files.ts";
import { ProviderError } from "./process.ts";

export interface Plugin {
  name: string;
  folder: string;
}

/** This package's provider, which runs without a guard. */
export const OURS = "irm";

const EXECUTABLE = "pulumi-resource-";
/** A plugin without an executable: a language runs it. */
const PROJECT = "PulumiPlugin.yaml";

/** The program and its first arguments. `engine` starts the engine. Throws ProviderError. */
export const commandOf = ({ name, folder }: Plugin, engine: readonly [string, ...string[]]): [string, ...string[]] => {
  const file = join(folder, EXECUTABLE + name);
  if (existsSync(file)) return [file];
  if (existsSync(join(folder, PROJECT))) return [...engine, "plugin", "run", "--kind", "resource", folder, "--"];
  throw new ProviderError(
    `the provider ${name} cannot be started: ${folder} has no ${EXECUTABLE}${name} and no ${PROJECT}; build it, or correct the path in Pulumi.yaml`,
  );
};

/** Port by name. */
export const debuggedProviders = ({ PULUMI_DEBUG_PROVIDERS: text = "" }: NodeJS.ProcessEnv): Map<string, number> =>
  new Map(
    text.split(",").flatMap((one): [string, number][] => {
      const [name = "", port] = one.split(":");
      return name !== "" && Number(port) > 0 ? [[name, Number(port)]] : [];
    }),
  );

/** Those that `plugins` and `packages` of Pulumi.yaml name by a path, and the packages of these. `root` is its folder. */
export const projectPlugins = (root: string, { plugins, packages }: Json): Plugin[] => {
  const providers = isObject(plugins) && Array.isArray(plugins.providers) ? plugins.providers : [];
  const named = providers.flatMap((one) =>
    isObject(one) && typeof one.name === "string" && typeof one.path === "string"
      ? [{ name: one.name, folder: resolve(root, one.path) }]
      : [],
  );
  return [...named, ...localPackages(root, packages, new Set())].filter(({ name }) => name !== OURS);
};

const localPackages = (root: string, packages: unknown, seen: Set<string>): Plugin[] =>
  Object.entries(isObject(packages) ? packages : {}).flatMap(([name, given]) => {
    const source = isObject(given) ? given.source : given;
    if (typeof source !== "string" || !isPath(source) || seen.has(name)) return [];
    seen.add(name);
    // Of a package, too, the engine takes the path from the folder of the program.
    const folder = resolve(root, source);
    const { packages: own } = documentIn(join(folder, PROJECT));
    return [{ name, folder }, ...localPackages(root, own, seen)];
  });

/** Neither the name of a package nor an address: `random`, `random@4.16.0`, `org/random`, `github.com/org/random`. */
const isPath = (source: string) =>
  /^(\.\/|\.\.|\/)/.test(source) ||
  !(/^[\w.-]+(\/[\w.-]+){0,2}(@.+)?$/.test(source) || /^(\w+:\/\/|[\w-]+\.\w+\/)/.test(source));

/** Those on the PATH, unless the user has opted out of them. */
export const ambientPlugins = ({
  PATH = "",
  PULUMI_IGNORE_AMBIENT_PLUGINS: ignored = "",
}: NodeJS.ProcessEnv): Plugin[] => {
  if (/^(1|true)$/i.test(ignored)) return [];
  const found = new Map<string, Plugin>();
  for (const folder of PATH.split(delimiter).filter(isAbsolute))
    for (const file of namesIn(folder)) {
      const name = file.slice(EXECUTABLE.length);
      if (file.startsWith(EXECUTABLE) && !found.has(name) && isExecutable(join(folder, file)))
        found.set(name, { name, folder });
    }
  return [...found.values()];
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    // The PATH may name folders that do not exist.
    return [];
  }
};

const isExecutable = (file: string) =>
  isAccessible(file, constants.X_OK) && statSync(file, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Makes a folder of plugins, which the engine reads in place of the one in `home`. Languages and our provider are the same there. Of each other
 * provider, `script` gives the text of the executable.
 */
export const guardPlugins = (home: string, own: string, script: (plugin: Plugin) => string): void => {
  const plugins = join(home, "plugins");
  if (!existsSync(plugins)) return;
  for (const entry of readdirSync(plugins, { withFileTypes: true })) {
    const [, kind, name = ""] = /^([a-z]+)-(.+)-v/.exec(entry.name) ?? [];
    const [from, to] = [join(plugins, entry.name), join(own, "plugins", entry.name)];
    if (kind === undefined || !entry.isDirectory() || existsSync(`${from}.partial`)) continue;
    mkdirSync(to, { recursive: true, mode: 0o700 });
    if (kind === "resource" && name !== OURS) guardFolder(from, to, { name, depth: 0, script });
    // The engine takes a link to a folder for a file.
    else for (const file of readdirSync(from)) symlinkSync(join(from, file), join(to, file));
  }
};

/** A plugin from a repository may be in a folder of it. */
const DEPTH_MAX = 4;

const guardFolder = (
  from: string,
  to: string,
  { name, depth, script }: { name: string; depth: number; script(plugin: Plugin): string },
): void => {
  const entries = readdirSync(from, { withFileTypes: true });
  const files = entries.map((one) => one.name).filter((one) => one.startsWith(EXECUTABLE));
  if (files.length === 0 && entries.some((one) => one.name === PROJECT)) files.push(EXECUTABLE + name);
  if (files.length > 0) mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const file of files) {
    writeFileSync(join(to, file), script({ name: file.slice(EXECUTABLE.length), folder: from }));
    chmodSync(join(to, file), 0o700);
  }
  if (depth === DEPTH_MAX) return;
  for (const entry of entries) {
    const isOfSource = !entry.name.startsWith(".") && !["node_modules", "venv"].includes(entry.name);
    if (entry.isDirectory() && isOfSource)
      guardFolder(join(from, entry.name), join(to, entry.name), { name, depth: depth + 1, script });
  }
};
