// `irm init`: writes a first policy file, and a .gitignore beside it where there is none. Never writes over another file, and adds one option
// to the project.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseDocument } from "yaml";
import { parsePolicy } from "../access/policy/index.ts";
import { starterPolicy } from "../access/policy/starter.ts";
import { PROJECT_FILES } from "../client/folder.ts";
import { printable } from "../schema/index.ts";
import { printError } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface InitFlags {
  organization: string;
}

export const init = (file: string, { organization }: InitFlags): number => {
  const [mistake] = parsePolicy({ organization }).mistakes;
  if (mistake) throw new UsageError(`--organization: ${mistake.text.split(";")[0]}`);
  try {
    writeFileSync(file, starterPolicy(organization), { flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = code === "EEXIST" ? `${file} exists already; give another name` : `cannot write ${file}: ${message}`;
    printError("irm init", text);
    return 1;
  }
  const name = printable(file);
  process.stderr.write(`wrote ${name}: change it to your organization, then run \`npx pulumi-irm check ${name}\`\n`);
  const folder = dirname(file);
  for (const hint of [ignoreFiles(join(folder, ".gitignore")), refreshAlways(folder)])
    if (hint) process.stderr.write(`${hint}\n`);
  return 0;
};

/** Lets the project beside the policy refresh with each update: otherwise no update repairs what somebody has changed by hand. */
const refreshAlways = (folder: string): string | undefined => {
  const file = PROJECT_FILES.map((name) => join(folder, name)).find((one) => existsSync(one));
  if (file === undefined) return `add to your Pulumi.yaml: ${REFRESH}, or no update repairs what is changed by hand`;
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

/** The option of a project; undefined where it has none, or the text is not a project. */
const refreshIn = (text: string): unknown => {
  const project = parseDocument(text);
  return project.errors.length > 0 ? undefined : project.getIn(["options", "refresh"]);
};

const REFRESH = "options: { refresh: always }";

/** What a project of this kind must not commit: packages, and the database of `irm serve --db` with its log. */
const IGNORED = ["node_modules/", "*.db", "*.db-shm", "*.db-wal"];

/** Writes the file. If the file exists, reports what it lacks. */
const ignoreFiles = (file: string): string | undefined => {
  const name = printable(file);
  try {
    writeFileSync(file, `${IGNORED.join("\n")}\n`, { flag: "wx" });
    return `wrote ${name}: packages, and the database of \`npx pulumi-irm serve --db\``;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") return `cannot write ${name}: ${message}; do not commit ${IGNORED.join(", ")}`;
  }
  const lines = linesOf(file);
  const missing = IGNORED.filter((line) => !lines.includes(line));
  return missing.length === 0 ? undefined : `add to ${name}: ${missing.join(", ")}`;
};

/** A file that cannot be read, such as a folder, has no lines. */
const linesOf = (file: string): string[] => {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim());
  } catch {
    return [];
  }
};
