// The place of a run on twins: a temporary folder of this user alone. Its secrets are encrypted.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { CREDENTIAL_VARIABLES } from "../../client/credential-settings.ts";
import { ELSEWHERE_FILE, RUN, RUN_FILE, type RunFile, readElsewhere, writeRunFile } from "../../client/run-file.ts";
import { EngineError, withoutOptions } from "../../pulumi/command.ts";
import { projectFile, stackFile } from "../../pulumi/project.ts";
import { isObject, type Json } from "../../schema/index.ts";
import { projectPlugins } from "./others/installed.ts";
import { giveFolder, type ProgramUser, readAs, removeFolder } from "./user.ts";

/** The project of the program. Errors: EngineError. */
export const projectAt = (folder: string) => {
  const file = projectFile(folder);
  if (file === undefined) throw new EngineError("there is no Pulumi.yaml in this folder, and none above it");
  let content: unknown;
  try {
    content = parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new EngineError(`${file} cannot be read: ${(error as Error).message}`);
  }
  const project = isObject(content) ? content : {};
  const { name } = project;
  if (typeof name !== "string") throw new EngineError(`${file} has no name`);
  return {
    name,
    /** path of the stack's settings, which need not exist */
    settingsOf: (stack: string) => stackFile(file, project, stack),
    /** providers of others that it names by a path */
    plugins: projectPlugins(dirname(file), project),
  };
};

export type Place = ReturnType<typeof createPlace>;

/** `credentials` are further variables with credentials, which the program's settings name. */
export const createPlace = (from: NodeJS.ProcessEnv, credentials: readonly string[], user?: ProgramUser) => {
  const folder = mkdtempSync(join(tmpdir(), "irm-review-"));
  const at = (...names: string[]) => join(folder, ...names);
  let isGiven = false;
  const remove = () => {
    if (!isGiven || !user) return rmSync(folder, { recursive: true, force: true });
    try {
      removeFolder(user, folder);
    } catch {
      // A process of that user still writes there.
    }
  };
  try {
    for (const name of ["state", "home", "journal", "tmp"]) mkdirSync(at(name), { mode: 0o700 });
  } catch (error) {
    remove();
    throw error;
  }
  const env: NodeJS.ProcessEnv = {
    ...withoutVariables(from, [...credentials, ...BACKEND]),
    PULUMI_BACKEND_URL: `file://${at("state")}`,
    PULUMI_HOME: at("home"),
    // The processes of the run leave files there.
    TMPDIR: at("tmp"),
    // The engine neither installs nor runs a provider without a guard.
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    // It enables the flag for the events, which the SDKs use too.
    PULUMI_DEBUG_COMMANDS: "true",
    [RUN]: at(RUN_FILE),
  };
  return {
    folder,
    /** of all commands: without credentials of the services and of the backend */
    env,
    /** Folder of a project with this name, for commands that run no program. */
    projectOf: (name: string) => {
      const own = at("projects", name);
      if (!existsSync(own)) {
        mkdirSync(own, { recursive: true, mode: 0o700 });
        writeFileSync(join(own, "Pulumi.yaml"), `${JSON.stringify({ name, runtime: "nodejs" })}\n`, { mode: 0o600 });
      }
      return own;
    },
    /** Writes the file of this stack in a backend of files. */
    writeState: (project: string, stack: string, state: Json) => {
      const own = at("state", ".pulumi", "stacks", project);
      mkdirSync(own, { recursive: true, mode: 0o700 });
      // Without it, the engine takes the folder for one of an earlier layout.
      writeFileSync(at("state", ".pulumi", "meta.yaml"), "version: 1\n", { mode: 0o600 });
      writeFileSync(join(own, `${stack}.json`), JSON.stringify(state), { mode: 0o600 });
    },
    /** Copies the settings of a stack, if there are any. Returns the path of the copy. */
    copySettings: (settings: string) => {
      const to = at(basename(settings));
      writeFileSync(to, existsSync(settings) ? readAs(user, settings) : "", { mode: 0o600 });
      return to;
    },
    /** From then on, the user of the program may enter, and this process writes no more. */
    give: () => {
      if (user) giveFolder(user, folder, [EVENTS, ELSEWHERE_FILE]);
      isGiven = true;
    },
    /** folder of the journals */
    journal: at("journal"),
    /** the file of the events of a run */
    events: at(EVENTS),
    /** Writes the addresses of the twins. */
    writeTwins: (run: Pick<RunFile, "services" | "removes">) => {
      writeRunFile(folder, { ...run, kind: "review", pid: process.pid, journal: at("journal") });
    },
    /** origins of services without a twin, from requests */
    elsewhere: () => readElsewhere(folder),
    remove,
  };
};

const EVENTS = "events.jsonl";

/** Variables of the backend, which the run does not have. */
export const BACKEND = [
  "PULUMI_ACCESS_TOKEN",
  "PULUMI_BACKEND_URL",
  "PULUMI_HOME",
  "PULUMI_STACK",
  // They change the name of the file of a stack.
  "PULUMI_DIY_BACKEND_GZIP",
  "PULUMI_SELF_MANAGED_STATE_GZIP",
];

/** Without these variables, those of credentials, and options of the engine, which takes each from the environment too. */
export const withoutVariables = (env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv => {
  const withheld = new Set([...CREDENTIAL_VARIABLES, ...names]);
  return Object.fromEntries(Object.entries(withoutOptions(env)).filter(([name]) => !withheld.has(name)));
};
