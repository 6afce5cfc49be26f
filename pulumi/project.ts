// The Pulumi project of a folder: its Pulumi.yaml, the configuration of its stacks, and the backend, as far as this package reads them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import path, { dirname, extname, join, type posix } from "node:path";
import type { Env } from "../client/config.ts";
import { isObject, type Json } from "../schema/index.ts";

/** Whether the file is the folder, or inside it. Both paths are absolute and free of symbolic links. */
export const isWithin = (folder: string, file: string): boolean => {
  const relative = path.relative(folder, file);
  return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
};

/** The names of project files that the engine accepts. */
export const PROJECT_FILES = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/** The folder of the Pulumi project that contains `folder`; undefined if there is none. */
export const projectFolder = (
  folder: string,
  has: (file: string) => boolean,
  { dirname, join }: Pick<typeof posix, "dirname" | "join"> = path,
): string | undefined => {
  for (let at = folder; ; at = dirname(at)) {
    if (PROJECT_FILES.some((name) => has(join(at, name)))) return at;
    if (dirname(at) === at) return undefined;
  }
};

/** A member of the project's file; undefined if there is no file or no such member. `folder` is the program's. */
export const projectMember = (folder: string, name: "backend" | "runtime"): unknown =>
  memberOf(textOrEmpty(projectFile(folder) ?? ""), name);

/**
 * The value of a key, such as `irm:journal`, in the file of a stack's configuration: a string, or an object for a secret. It does not see
 * values from an environment of Pulumi ESC or from `--config-file`.
 */
export const stackSetting = (folder: string, stack: string, key: string): unknown => {
  const project = projectFile(folder);
  if (project === undefined) return undefined;
  const own = textOrEmpty(project);
  const places = { stackConfigDir: memberOf(own, "stackConfigDir"), config: memberOf(own, "config") };
  const text = textOrEmpty(stackFile(project, places, stack));
  const settings = text.includes(key) ? memberOf(text, "config") : undefined;
  return isObject(settings) ? settings[key] : undefined;
};

/** The file of a stack's configuration. */
export const stackFile = (projectFile: string, { stackConfigDir, config }: Json, stack: string): string => {
  // Projects of older engines name the folder in `config`, where newer ones hold settings.
  const own = stackConfigDir ?? config;
  return join(dirname(projectFile), typeof own === "string" ? own : "", `Pulumi.${stack}${extname(projectFile)}`);
};

const memberOf = (text: string, name: string) => (text.includes(name) ? documentOf(text)[name] : undefined);

/** What a file in YAML, or in JSON, has; empty where that is no map. The engine names what is wrong with it. */
export const documentIn = (file: string): Json => documentOf(textOrEmpty(file));

const documentOf = (text: string): Json => {
  try {
    // Loaded only when it is needed: few projects name a backend.
    const { parse } = require("yaml") as typeof import("yaml");
    const found: unknown = parse(text);
    return isObject(found) ? found : {};
  } catch {
    return {};
  }
};

/** The file of the project that contains `folder`; undefined where none can be read. */
export const projectFile = (folder: string): string | undefined => {
  const isFile = (file: string) => textOrEmpty(file) !== "";
  const found = projectFolder(folder, isFile);
  return found === undefined ? undefined : PROJECT_FILES.map((name) => join(found, name)).find(isFile);
};

const require = createRequire(import.meta.url);

/** "" where the file cannot be read. */
export const textOrEmpty = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

/** Address of the backend, "" if it is unknown. The order is the engine's: the environment, the project's file, the last login. */
export const backendOf = (env: Env, cwd: string): string =>
  env.PULUMI_BACKEND_URL ||
  String((projectMember(cwd, "backend") as { url?: unknown } | null | undefined)?.url ?? "") ||
  currentLogin(join(pulumiHome(env), "credentials.json"));

/** The folder in which the engine keeps logins and plugins. */
export const pulumiHome = ({ PULUMI_HOME }: Env): string => PULUMI_HOME || join(homedir(), ".pulumi");

const currentLogin = (file: string) => {
  try {
    return String((JSON.parse(textOrEmpty(file) || "{}") as { current?: unknown }).current ?? "");
  } catch {
    return "";
  }
};
