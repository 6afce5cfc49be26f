// The engine, the plugin and the journals of this machine. A check installs nothing: that would hide a missing part.
import { constants, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { countText } from "../../access/format/words.ts";
import type { Env } from "../../client/addresses.ts";
import type { GetConfig, Given } from "../../client/config.ts";
import { withoutSection } from "../../client/errors.ts";
import { JournalError } from "../../provider/log/entries.ts";
import { journalFolder, workTreeProblem } from "../../provider/run/journal-path.ts";
import { documentIn, projectFile } from "../../pulumi/project.ts";
import { isObject } from "../../schema/index.ts";
import { pendingIn } from "../command/recover-journal.ts";
import type { AskEngine } from "../engine-command.ts";
import { isAccessible } from "../files.ts";
import { packageVersion } from "../irm-command.ts";
import { ambientPlugins, OURS } from "../run/others/installed.ts";
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

export const checkPlugin = async (run: AskEngine, project: Project | undefined, env: Env = {}): Promise<Check> => {
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
  const onPath = ambientPlugins(env).find(({ name }) => name === OURS);
  if (onPath !== undefined) return good("plugin", `${join(onPath.folder, EXECUTABLE)}, on the PATH`);
  const version = packageVersion;
  const install = `pulumi plugin install resource irm v${version} --file pulumi-resource-irm-v${version}.tar.gz (docs/resources.md#native-plugin)`;
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

const textIn = (value: unknown) => (typeof value === "string" ? value : undefined);

const objectIn = (value: unknown) => (isObject(value) ? value : {});

/** The configuration of the named or the selected stack, with encrypted secrets; without `get`, it cannot be read. */
export const readStackConfig = async (
  run: AskEngine,
  project: Project | undefined,
  stack: string | undefined,
): Promise<{ check: Check; get?: GetConfig; given?: Given }> => {
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
  // The engine does not show a secret value.
  const values = new Map(
    Object.entries(objectIn(JSON.parse(printed.stdout))).map(([key, entry]) => [
      key,
      textIn(objectIn(entry).value) ?? (TOKENS.includes(key) ? "secret" : undefined),
    ]),
  );
  return {
    check: good("stack", `${name} of project ${project.name ?? project.folder}`),
    get: (key) => values.get(key),
    given: { keys: [...values.keys()], project: project.name },
  };
};

const firstLine = (text: string) => text.split("\n", 1)[0] as string;

/** A token in the stack's configuration is a problem even if it is encrypted. */
const TOKENS = ["irm:token", "irm:identityToken"];

// The folder of the journals: the rights of a run there, and its pending creates.

/** `found`: the setting, if there is one. */
export const checkJournal = async (
  found: { value: string; place: string } | undefined,
  env: Env,
  cwd: string,
): Promise<Check> => {
  const folder = journalFolder(found?.value, env);
  const at = `${folder} (${found?.place ?? "default"})`;
  const problem = workTreeProblem(journalFolder(found?.value, env), cwd);
  if (problem !== undefined) return bad("journal", problem, "set IRM_JOURNAL to a folder outside of the repository");
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  if (!statSync(existing).isDirectory())
    return bad("journal", `${at}: ${existing} is not a folder`, "set IRM_JOURNAL to the absolute path of a folder");
  if (!isAccessible(existing, constants.W_OK | constants.X_OK))
    return bad("journal", `${at}: this user cannot write to ${existing}`, "set IRM_JOURNAL to a folder that it owns");
  if (existing !== folder) return good("journal", `${at}; the first run creates it`);
  try {
    const pending = (await pendingIn(folder)).length;
    return good(
      "journal",
      pending === 0
        ? `${at}, no create is pending`
        : `${at}, ${countText(pending, "create")} pending: the next run resolves them; \`npx pulumi-irm recover list\` shows them`,
    );
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return bad(
      "journal",
      `${at}: ${withoutSection(error.message)}`,
      "docs/troubleshooting.md#cannot-write says what to do",
    );
  }
};
