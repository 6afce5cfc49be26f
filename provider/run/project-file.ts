// The Pulumi.yaml of the program and the configuration of its stacks, as far as this package reads them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { PROJECT_FILES, projectFolder } from "../../client/folder.ts";
import { isObject, type Json } from "../../schema/index.ts";

/** A member of the project's file; undefined where there is no file, or it has no such member. `folder` is the program's. */
export const projectMember = (folder: string, name: "backend" | "runtime"): unknown =>
  memberOf(textOf(projectFile(folder) ?? ""), name);

/**
 * What the file of a stack's configuration has for a key, `irm:journal`: a string, or an object for a secret. It does not see what an
 * environment of Pulumi ESC or `--config-file` supplies.
 */
export const stackSetting = (folder: string, stack: string, key: string): unknown => {
  const project = projectFile(folder);
  if (project === undefined) return undefined;
  const own = textOf(project);
  const places = { stackConfigDir: memberOf(own, "stackConfigDir"), config: memberOf(own, "config") };
  const text = textOf(stackFile(project, places, stack));
  const settings = text.includes(key) ? memberOf(text, "config") : undefined;
  return isObject(settings) ? settings[key] : undefined;
};

/** The file of a stack's configuration. */
export const stackFile = (projectFile: string, { stackConfigDir, config }: Json, stack: string): string => {
  // Projects of older engines have the folder in `config`, in the place of settings.
  const own = stackConfigDir ?? config;
  return join(dirname(projectFile), typeof own === "string" ? own : "", `Pulumi.${stack}${extname(projectFile)}`);
};

const memberOf = (text: string, name: string): unknown => {
  if (!text.includes(name)) return undefined;
  try {
    // Loaded only where it is needed: few projects name a backend.
    const { parse } = require("yaml") as typeof import("yaml");
    return (parse(text) as Record<string, unknown> | null)?.[name];
  } catch {
    // The engine has read the file, or there would be no run.
    return undefined;
  }
};

const projectFile = (folder: string): string | undefined => {
  const isFile = (file: string): boolean => textOf(file) !== "";
  const found = projectFolder(folder, isFile);
  return found === undefined ? undefined : PROJECT_FILES.map((name) => join(found, name)).find(isFile);
};

const require = createRequire(import.meta.url);

/** "" where the file cannot be read. */
export const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};
