// Where a run on twins keeps what it needs: a folder of this user alone, which goes with it. No secret is in it in clear text.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { CREDENTIAL_VARIABLES } from "../../client/credential-settings.ts";
import { ELSEWHERE_FILE, RUN, RUN_FILE, type RunFile, readElsewhere, writeRunFile } from "../../client/run-file.ts";
import { EngineError, withoutOptions } from "../../pulumi/command.ts";
import { projectFile, stackFile } from "../../pulumi/project.ts";
import { isObject, type Json } from "../../schema/index.ts";
import { type Plugin, projectPlugins } from "./others/installed.ts";
import { giveFolder, type ProgramUser, readAs, removeFolder } from "./user.ts";

/** The project of the program. */
interface Project {
  name: string;
  /** path of the stack's settings, which need not exist */
  settingsOf(stack: string): string;
  /** providers of others that it names by a path */
  plugins: readonly Plugin[];
}

/** Errors: EngineError. */
export const projectAt = (folder: string): Project => {
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
    settingsOf: (stack) => stackFile(file, project, stack),
    plugins: projectPlugins(dirname(file), project),
  };
};

export interface Place {
  folder: string;
  /** of a project with this name, for commands that run no program */
  projectOf(name: string): string;
  /** Writes the file in which a backend of files keeps this stack. */
  writeState(project: string, stack: string, state: Json): void;
  /** Copies the settings of a stack, where there are any; a path: where the copy is */
  copySettings(from: string): string;
  /** From then on, the user of the program may enter, and nothing else is written here. */
  give(): void;
  /** folder of the journals */
  journal: string;
  /** the file of the events of a run */
  events: string;
  /** Says where the twins are. */
  writeTwins(run: Pick<RunFile, "services" | "removes">): void;
  /** origins of the services without a twin that a request was for */
  elsewhere(): string[];
  /** The environment of all commands: without credentials of the services and of the backend. */
  env: NodeJS.ProcessEnv;
  remove(): void;
}

/** `credentials` are further variables with credentials, which the program's settings name. */
export const createPlace = (from: NodeJS.ProcessEnv, credentials: readonly string[], user?: ProgramUser): Place => {
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
  return {
    folder,
    projectOf: (name) => {
      const own = at("projects", name);
      if (!existsSync(own)) {
        mkdirSync(own, { recursive: true, mode: 0o700 });
        writeFileSync(join(own, "Pulumi.yaml"), `${JSON.stringify({ name, runtime: "nodejs" })}\n`, { mode: 0o600 });
      }
      return own;
    },
    writeState: (project, stack, state) => {
      const own = at("state", ".pulumi", "stacks", project);
      mkdirSync(own, { recursive: true, mode: 0o700 });
      // Without it, the engine takes the folder for one of an earlier layout.
      writeFileSync(at("state", ".pulumi", "meta.yaml"), "version: 1\n", { mode: 0o600 });
      writeFileSync(join(own, `${stack}.json`), JSON.stringify(state), { mode: 0o600 });
    },
    copySettings: (from) => {
      const to = at(basename(from));
      writeFileSync(to, existsSync(from) ? readAs(user, from) : "", { mode: 0o600 });
      return to;
    },
    give: () => {
      if (user) giveFolder(user, folder, [EVENTS, ELSEWHERE_FILE]);
      isGiven = true;
    },
    journal: at("journal"),
    events: at(EVENTS),
    writeTwins: (run) =>
      void writeRunFile(folder, { ...run, kind: "review", pid: process.pid, journal: at("journal") }),
    elsewhere: () => readElsewhere(folder),
    env: {
      ...withoutVariables(from, [...credentials, ...BACKEND]),
      PULUMI_BACKEND_URL: `file://${at("state")}`,
      PULUMI_HOME: at("home"),
      // The processes of the run leave files there.
      TMPDIR: at("tmp"),
      // Of a provider that has no guard, nothing is installed and nothing is run.
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // It has the flag for the events, which the SDKs use too.
      PULUMI_DEBUG_COMMANDS: "true",
      [RUN]: at(RUN_FILE),
    },
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
