// `irm init`: writes a first project: the policy, its tests, the rules of reviews, the program and .gitignore. Never writes over a file. It
// adds one option to an existing project.

import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseDocument } from "yaml";
import { parsePolicy } from "../../access/policy/parse.ts";
import { starterPolicy, starterProgram, starterRules, starterTests } from "../../access/policy/starter.ts";
import { PROJECT_FILES, textOrEmpty } from "../../pulumi/project.ts";
import { printable } from "../../schema/index.ts";
import { commandName, type IrmCommand, pulumiName, UsageError } from "../irm-command.ts";
import { isStandalone } from "../own-command.ts";
import { printError, warn } from "../terminal.ts";

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Writes a first project: access.yaml, tests, rules for reviews, a Pulumi program and .gitignore. Never overwrites a file. Adds refresh: always to an existing Pulumi.yaml.",
    )
    .argument("[FOLDER]", "folder to write into; created if it does not exist", ".")
    .option("--organization <NAME>", "name of the organization", "acme")
    .example("init access --organization acme")
    .runs(init);
};

const init = (folder: string, { organization }: { organization: string }): number => {
  const [mistake] = parsePolicy({ organization }).mistakes;
  if (mistake) throw new UsageError(`--organization: ${mistake.text.split(";")[0]}`);
  if (folder.trim() === "") throw new UsageError("the name of the folder is empty; . is this folder");
  const project = PROJECT_FILES.map((name) => join(folder, name)).find(existsSync);
  const written: { file: string; purpose: string }[] = [];
  const hints: (string | undefined)[] = [];
  let made: string | undefined;
  try {
    made = mkdirSync(folder, { recursive: true });
    const write = (name: string, purpose: string, text: string) => {
      const file = join(folder, name);
      // Users of the executable have no package, in which editors look for the schema.
      const isNew = writeNew(file, isStandalone ? text.replace(/^# yaml-language-server.*\n(#\n)?/, "") : text);
      if (isNew) written.push({ file, purpose });
      return isNew;
    };
    if (!write("access.yaml", "who may do what", starterPolicy(organization))) {
      printError("irm init", `${join(folder, "access.yaml")} exists already; edit it, or give another folder`);
      return 1;
    }
    write("access.tests.yaml", "what must hold, whatever is edited there", starterTests);
    write("review.yaml", "what a review must not find", starterRules);
    const isNewProject = project === undefined;
    if (isNewProject)
      write("Pulumi.yaml", "the project; each update repairs what somebody changed by hand", starterProject(folder));
    const program = starterProgram(organization);
    const writeProgram = () => write("index.ts", "the program: it creates what access.yaml says", program);
    if (!isNewProject || !(isStandalone || writeProgram()))
      hints.push("add an AccessPolicy of access.yaml to your program: docs/policy.md#in-a-pulumi-program");
    if (!write(".gitignore", "packages, local databases and local state", `${IGNORED.join("\n")}\n`)) {
      const file = join(folder, ".gitignore");
      // A file that cannot be read, such as a folder, has no lines.
      const lines = textOrEmpty(file)
        .split("\n")
        .map((line) => line.trim());
      const missing = IGNORED.filter((line) => !lines.includes(line));
      if (missing.length > 0) hints.push(`add to ${printable(file)}: ${missing.join(", ")}`);
    }
    if (!isNewProject) hints.push(refreshAlways(project));
  } catch (error) {
    for (const { file } of written) rmSync(file, { force: true });
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
    printError("irm init", `cannot write into ${folder}: ${(error as Error).message}`);
    return 1;
  }
  warn(
    columns(
      "wrote ",
      written.map(({ file, purpose }) => [printable(file), purpose]),
    ),
  );
  for (const hint of hints) if (hint) warn(hint);
  const shown = /^[\w./-]+$/.test(folder) ? folder : JSON.stringify(printable(folder));
  const steps: [string, string][] = [
    [`eval "$(${commandName} serve --dev --background)"`, "a server to try it on"],
    ["export PULUMI_BACKEND_URL=file://$PWD PULUMI_CONFIG_PASSPHRASE=choose-one", "keeps the state in this folder"],
    [`${pulumiName} stack init dev`, ""],
    [`${pulumiName} up`, "creates what access.yaml says"],
    [`${commandName} review`, "after an edit: who gains and who loses access"],
  ];
  if (folder !== ".") steps.unshift([`cd ${shown}`, ""]);
  warn(`\nNext:\n${columns("  ", steps)}`);
  return 0;
};

/** Rows of two columns, after a lead. */
const columns = (lead: string, rows: readonly (readonly [string, string])[]) => {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `${lead}${first.padEnd(width)}  ${second}`.trimEnd()).join("\n");
};

/** Whether the file was written; false if one is there. */
const writeNew = (file: string, text: string): boolean => {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    rmSync(file, { force: true });
    throw error;
  }
};

/** Users of the executable need no Node: their program is in YAML. `main` keeps the engine from the `index.js` that `npm init` names in package.json. */
const starterProject = (folder: string) => `name: ${projectName(folder)}
description: Who may do what
${isStandalone ? "runtime: yaml" : "runtime: nodejs\nmain: index.ts"}
options:
  refresh: always
${isStandalone ? "resources:\n  access:\n    type: irm:AccessPolicy\n    properties: { file: access.yaml }\n" : ""}`;

/** The folder's name, without the characters that the engine refuses in the name of a project. */
const projectName = (folder: string) => {
  const name = basename(resolve(folder))
    .replace(/[^\w.-]+/g, "-")
    .slice(0, 100);
  return /[a-z]/i.test(name) ? name : "access";
};

/** Lets an existing project refresh with each update: otherwise no update repairs changes by hand. */
const refreshAlways = (file: string): string | undefined => {
  const name = printable(file);
  try {
    const before = readFileSync(file, "utf8");
    if (refreshIn(before) !== undefined) return undefined;
    const added = `${before.endsWith("\n") ? "" : "\n"}options:\n  refresh: always\n`;
    // A project that has other options, or is JSON, is for its author to edit.
    if (refreshIn(before + added) !== "always")
      return `add to ${name}: ${REFRESH}, or no update repairs what is changed by hand`;
    appendFileSync(file, added);
    return `added to ${name}: ${REFRESH}, so that each update repairs what is changed by hand`;
  } catch (error) {
    return `cannot change ${name}: ${printable((error as Error).message)}; add ${REFRESH} to it`;
  }
};

/** The option of a project; undefined without one, and for a text that is not YAML. */
const refreshIn = (text: string) => {
  const project = parseDocument(text);
  return project.errors.length > 0 ? undefined : project.getIn(["options", "refresh"]);
};

const REFRESH = "options: { refresh: always }";

/** Not for a commit: packages, the database of `irm serve --db` with its log, the state of a local backend. */
const IGNORED = ["node_modules/", "*.db", "*.db-shm", "*.db-wal", ".pulumi/"];
