// The engine and the plugin of this machine. Nothing is installed: a check that changes the machine would hide what was missing.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { GetConfig, Given } from "../../client/config.ts";
import { documentIn, projectFile } from "../../pulumi/project.ts";
import { isObject, type Json } from "../../schema/index.ts";
import type { AskEngine } from "../engine-command.ts";
import { packageVersion } from "../package-version.ts";
import { bad, type Check, good } from "./check.ts";

export const checkEngine = async (run: AskEngine): Promise<Check> => {
  const answer = await run("version");
  if ("stdout" in answer) return good("engine", `pulumi ${answer.stdout.trim()}`);
  return answer.isMissing
    ? bad(
        "engine",
        "there is no pulumi on the PATH",
        "install it: https://www.pulumi.com/docs/iac/download-install/; npx pulumi-irm needs it only to read a preview or a stack",
      )
    : bad("engine", `pulumi version failed: ${answer.problem}`, "install the engine again");
};

const EXECUTABLE = "pulumi-resource-irm";

export const checkPlugin = async (run: AskEngine, project: Project | undefined): Promise<Check> => {
  if (project?.pluginPath !== undefined) {
    const folder = resolve(project.folder, project.pluginPath);
    return existsSync(join(folder, EXECUTABLE))
      ? good("plugin", `${folder}, as Pulumi.yaml names it`)
      : bad(
          "plugin",
          `Pulumi.yaml names ${folder}, which has no ${EXECUTABLE}`,
          "run npm ci in the folder of the program",
        );
  }
  const version = packageVersion();
  const install = `pulumi plugin install resource irm v${version} --file pulumi-resource-irm-v${version}.tar.gz (docs/plugin.md)`;
  const installed = pluginVersions(await run("plugin", "ls", "--json"));
  if (installed.includes(version)) return good("plugin", `version ${version} is installed`);
  const found =
    installed.length === 0 ? "not installed" : `version ${installed.join(", ")} is installed, not ${version}`;
  return ["python", "yaml"].includes(project?.runtime ?? "")
    ? bad("plugin", `${found}, and a program in ${project?.runtime} needs it`, install)
    : good("plugin", `${found}; programs with dynamic resources need none`);
};

const pluginVersions = (answer: Awaited<ReturnType<AskEngine>>): string[] => {
  if (!("stdout" in answer)) return [];
  try {
    const listed: unknown = JSON.parse(answer.stdout);
    return (Array.isArray(listed) ? listed : []).flatMap((one) =>
      isObject(one) && one.name === "irm" && one.kind === "resource" ? [String(one.version).replace(/^v/, "")] : [],
    );
  } catch {
    // Another version of the engine prints something else.
    return [];
  }
};

// The Pulumi project of this folder, and the configuration of its stack, by the engine's own commands. They run no program.

interface Project {
  folder: string;
  name?: string | undefined;
  runtime?: string | undefined;
  /** of the plugin, where the project names one */
  pluginPath?: string | undefined;
}

export const findProject = (cwd: string): Project | undefined => {
  const file = projectFile(cwd);
  if (file === undefined) return undefined;
  const document = documentIn(file);
  const { name, runtime } = document;
  const runtimeName = isObject(runtime) ? runtime.name : runtime;
  const { providers } = objectIn(document.plugins);
  const plugin = (Array.isArray(providers) ? providers : []).find((one) => isObject(one) && one.name === "irm");
  return {
    folder: dirname(file),
    name: textIn(name),
    runtime: textIn(runtimeName),
    pluginPath: textIn(plugin?.path),
  };
};

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const objectIn = (value: unknown): Json => (isObject(value) ? value : {});

interface StackConfig {
  check: Check;
  /** absent: there is no stack whose configuration could be read */
  get?: GetConfig;
  given?: Given;
}

/** The configuration of the named or the selected stack. Secrets in it are not decrypted. */
export const readStackConfig = async (
  run: AskEngine,
  project: Project | undefined,
  stack: string | undefined,
): Promise<StackConfig> => {
  if (project === undefined)
    return stack === undefined
      ? { check: good("stack", "there is no Pulumi project in this folder, so only the environment counts") }
      : { check: bad("stack", "there is no Pulumi project in this folder", "run it in the folder of Pulumi.yaml") };
  const selected = stack === undefined ? await run("stack", "--show-name") : { stdout: stack };
  if (!("stdout" in selected))
    return {
      check: good("stack", `no stack is read, so only the environment counts: ${firstLine(selected.problem)}`),
    };
  const name = selected.stdout.trim();
  const printed = await run("config", "--json", "--stack", name);
  if (!("stdout" in printed))
    return {
      check: bad(
        "stack",
        `the configuration of stack ${name} cannot be read: ${firstLine(printed.problem)}`,
        "select a stack that exists: pulumi stack select; the engine has to reach its backend",
      ),
    };
  const values = valuesIn(printed.stdout);
  return {
    check: good("stack", `${name} of project ${project.name ?? project.folder}`),
    get: (key) => values.get(key),
    given: { keys: [...values.keys()], project: project.name },
  };
};

const firstLine = (text: string) => text.split("\n", 1)[0] as string;

/** Undefined where it is secret: the engine does not show it. */
const valuesIn = (text: string) => {
  const settings = Object.entries(objectIn(JSON.parse(text)));
  const shownIn = (key: string, entry: unknown) =>
    textIn(objectIn(entry).value) ?? (TOKENS.includes(key) ? "secret" : undefined);
  return new Map(settings.map(([key, entry]) => [key, shownIn(key, entry)]));
};

/** A token in the stack's configuration is a problem also where it is encrypted. */
const TOKENS = ["irm:token", "irm:identityToken"];
