// `irm export`: code for the existing records, or for those that Terraform manages, on stdout or as a project in a folder. It names on
// stderr the records that the caller cannot see.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { leftOutText, notVisibleText } from "../../access/export/literal.ts";
import { type Export, exportOf } from "../../access/export/model.ts";
import { type Into, intoPolicy, organizationIn } from "../../access/export/policy/into.ts";
import { type Files, type Format, INSTALL, optionsOf, projectOf } from "../../access/export/project.ts";
import { readContents } from "../../access/export/read.ts";
import {
  findingText,
  handoverText,
  NONE_EXISTS,
  type Takeover,
  takeoverOf,
} from "../../access/export/terraform/handover.ts";
import { type ManagedContents, readManaged } from "../../access/export/terraform/managed.ts";
import { parseState, StateError, type TerraformState } from "../../access/export/terraform/state.ts";
import { countText } from "../../access/format/words.ts";
import { applyEdit, openPolicy } from "../../access/policy/edit/open.ts";
import { UIDS_FILE } from "../../access/policy/uids.ts";
import { quote } from "../../access/text.ts";
import type { Client } from "../../client/client.ts";
import { isRoot, printable, resources, UserError } from "../../schema/index.ts";
import { systemClient } from "../client.ts";
import { withProgress } from "../copy.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { printStyled, warn } from "../terminal.ts";

interface ExportFlags {
  group?: string;
  fromTfstate?: string;
  format: Format;
  native?: boolean;
  adopt: boolean;
  out?: string;
  split?: "group";
  into?: string;
}

const NEEDS_UIDS = `--out FOLDER also writes ${UIDS_FILE}: without that file the program creates these records again`;

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Writes a program that declares everything below a group. Its first update adopts the records by uid. Exits with 3 if some cannot be listed.",
    )
    .option("--group <UID|PATH>", "the group to export, with everything below it (default: the organization)")
    .option(
      "--from-tfstate <FILE>",
      "export the records in this output of terraform state pull or terraform show -json, with handover.md; - is stdin",
    )
    .choice(
      "--format <FORMAT>",
      "language of the program; yaml: a policy file, and a program for the rest",
      ["typescript", "yaml", "python", "pulumi-yaml"],
      "typescript",
    )
    .option("--native", "in TypeScript, import from pulumi-irm/plugin, and write import.json for pulumi import --file")
    .option("--no-adopt", "write a program that creates the same records on another service")
    .choice("--split <BY>", "with --format yaml: a file for each group directly below the organization", ["group"])
    .option(
      "--into <FILE>",
      "add existing records that this policy lacks to its files, which keep their comments and order, and the uids to adopt.json beside it",
    )
    .option(
      "--out <FOLDER>",
      "write a project into this folder, which must be empty or new (default: print the program)",
    )
    .example("export --format yaml --out access")
    .runs(exportCode);
};

const exportCode = async (flags: ExportFlags): Promise<number> => {
  const { out } = flags;
  const problem = problemOf(flags);
  if (problem !== undefined) throw new UsageError(problem);
  if (flags.into !== undefined) return await addTo(flags.into, flags.adopt);
  const { all, files, report, hasFindings } = await exported(systemClient(), flags);
  if (out === undefined) {
    printStyled([...files.values()][0] as string);
    if (files.has(UIDS_FILE)) report.push(NEEDS_UIDS);
  } else {
    writeFolder(out, files);
    report.push(`wrote ${printable(out)}: ${countText(all.entries.length, "record")}`);
  }
  return end(report, hasFindings);
};

const end = (report: readonly string[], hasFindings: boolean): number => {
  for (const line of report) warn(line);
  return hasFindings ? 3 : 0;
};

/** A problem of the flags, before any file or record is read. */
const problemOf = (flags: ExportFlags): string | undefined => {
  const { group, fromTfstate, format, native, adopt, out, split, into } = flags;
  if (into !== undefined) {
    const others = { group, "from-tfstate": fromTfstate, native, out, split };
    const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
    if (other !== undefined) return `--into and --${other} cannot be combined`;
    return ["python", "pulumi-yaml"].includes(format)
      ? `--into adds to a policy, and --format ${format} writes none`
      : undefined;
  }
  const problem = out === undefined ? undefined : folderProblem(out);
  if (problem !== undefined) return `--out: ${problem}`;
  if (out === undefined && format === "yaml") return "--format yaml writes a policy and a program: give --out FOLDER";
  if (split !== undefined && format !== "yaml") return "--split is for --format yaml";
  if (fromTfstate === undefined) return undefined;
  if (group !== undefined) return "give --group or --from-tfstate: the state says which records are exported";
  return adopt ? undefined : "--from-tfstate takes records over, so --no-adopt is not for it";
};

/** The report goes to stderr. `hasFindings`: the program differs from the records, or lacks some. */
const exported = async (client: Client, flags: ExportFlags) => {
  const { group, fromTfstate, format, native = false, adopt } = flags;
  const state = fromTfstate === undefined ? undefined : await stateIn(fromTfstate);
  const { contents, managed } = await withProgress(async (onRead): Promise<ManagedContents> => {
    if (state !== undefined) return await readManaged(client, state, format === "yaml", onRead);
    return { contents: await readContents(client, group, onRead), managed: [] };
  });
  const all = exportOf(contents, { ...optionsOf(format, native, adopt), nowMs: await client.serviceNow() });
  if (format === "yaml" && all.top === "")
    throw new UsageError("--format yaml: a policy is of one organization, and these records are in none or in several");
  if (format === "yaml" && !isRoot(all.top))
    throw new UsageError("--format yaml: a policy is of a whole organization; leave --group out, or export a program");
  const files: Files = projectOf(all, format, { isNative: native, isSplit: flags.split === "group" });
  if (state === undefined) return { all, files, report: reportOf(all), hasFindings: hasUnseen(all) };
  const takeover = takeoverOf(state, managed, all);
  return {
    all,
    files: new Map([...files, ["handover.md", handoverText(takeover, [INSTALL[format]])]]),
    report: takeoverReport(takeover, flags),
    hasFindings: takeover.findings.length > 0,
  };
};

const stateIn = async (file: string): Promise<TerraformState> => {
  try {
    return parseState(file === "-" ? await readText(process.stdin) : readFileSync(file, "utf8"));
  } catch (error) {
    const problem = error instanceof StateError ? error.message : `cannot be read: ${(error as Error).message}`;
    throw new UserError(`${file === "-" ? "stdin" : file} ${problem}`);
  }
};

const hasUnseen = ({ notVisible, notListed }: Export) => notVisible.length + notListed.length > 0;

const reportOf = ({ leftOut, notListed, notVisible }: Export) => [
  ...leftOut.map((one) => `not declared: ${leftOutText(one)}`),
  ...notListed.map((one) => `named by others, and in no list: ${one}`),
  ...notVisible.map((one) => `not visible: ${notVisibleText(one)}`),
];

const takeoverReport = ({ findings, taken, gone, others, dataSources }: Takeover, { out }: ExportFlags): string[] => {
  const ignored = [
    ...(others > 0 ? [countText(others, "resource of another provider", "resources of other providers")] : []),
    ...(dataSources > 0 ? [countText(dataSources, "data source")] : []),
  ];
  return [
    ...findings.map(findingText),
    ...(taken.length === 0 && gone.length > 0 ? [NONE_EXISTS] : []),
    ...(ignored.length > 0 ? [`ignored: ${ignored.join(", ")}`] : []),
    ...(out === undefined ? ["handover.md has the commands for Terraform: give --out FOLDER"] : []),
  ];
};

// A folder of files appears whole or not at all: the files are written beside it and renamed.

/** The reason against files in a folder; undefined: there may be some. */
const folderProblem = (folder: string): string | undefined => {
  if (folder.trim() === "") return "the name of the folder is empty; . is this folder";
  try {
    return readdirSync(folder).length === 0 ? undefined : `${folder} has files in it; give another folder`;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    return code === "ENOTDIR" ? `${folder} is a file; give another folder` : message;
  }
};

/** Writes the files; the last one appears last. Throws the errors of the file system. */
const writeFolder = (folder: string, files: Files): void => {
  const target = resolve(folder);
  mkdirSync(dirname(target), { recursive: true });
  const beside = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  try {
    for (const [name, text] of files) writeFileSync(join(beside, name), text);
    // An existing folder may be the working folder of a shell, so it stays.
    if (existsSync(target)) for (const name of files.keys()) renameSync(join(beside, name), join(target, name));
    else renameSync(beside, target);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
};

/** Adds the existing records to the files of a policy, and reports those that a policy cannot express. */
const addTo = async (file: string, isAdopted: boolean): Promise<number> => {
  // A policy with mistakes is an error before any request.
  const opened = openPolicy(file);
  const client = systemClient();
  const contents = await withProgress((onRead) => readContents(client, organizationIn(opened), onRead));
  const all = exportOf(contents, { ...optionsOf("yaml", false, true), nowMs: await client.serviceNow() });
  const into = intoPolicy(opened, all, contents, isAdopted);
  applyEdit(into.edit);
  const { entries } = into.edit;
  const lines = [
    ...reportOf(all),
    ...unsaidLines(into),
    `added ${countText(entries.length, "entry")} to ${printable(opened.file)}`,
    ...entries.map((entry) => `  ${printable(entry)}`),
  ];
  const uids = into.newUids;
  if (uids !== undefined)
    lines.push(
      `wrote ${printable(uids)}: give it to AccessPolicy, adopt: { file: ${quote(uids)} }, or it creates these records again`,
    );
  return end(lines, hasUnseen(all));
};

const NAMES_SHOWN = 10;

const unsaidLines = ({ unsaid }: Into): string[] => {
  const byKind = Map.groupBy(unsaid, ({ entry, why }) => (why === undefined ? entry.kind : undefined));
  return [...byKind].flatMap(([kind, some]) => {
    if (kind === undefined)
      return some.map(
        ({ entry: { kind: own, uid, args }, why = "" }) =>
          `not added: ${leftOutText({ kind: own, uid, name: String(args.get("name") ?? ""), why })}`,
      );
    const { word, words } = resources[kind];
    const names = some.slice(0, NAMES_SHOWN).map(({ entry }) => quote(entry.args.get("name") ?? entry.name));
    const more = some.length > NAMES_SHOWN ? ` and ${some.length - NAMES_SHOWN} more` : "";
    return [`not added, a policy has no word for ${countText(some.length, word, words)}: ${names.join(", ")}${more}`];
  });
};
