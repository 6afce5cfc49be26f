// `irm export`: code for what exists, or for what Terraform manages, on stdout or as a project in a folder. What the caller cannot see is
// named on stderr too.
import { readFileSync } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { leftOutText, notVisibleText } from "../access/export/comment.ts";
import { type Export, exportOf } from "../access/export/model.ts";
import { type Files, type Format, INSTALL, optionsOf, projectOf } from "../access/export/project.ts";
import { type ChooseTop, readContents } from "../access/export/read.ts";
import { handoverText } from "../access/export/terraform/handover.ts";
import { type ManagedContents, readManaged } from "../access/export/terraform/managed.ts";
import { parseState, StateError, type TerraformState } from "../access/export/terraform/state.ts";
import { findingText, NONE_EXISTS, type Takeover, takeoverOf } from "../access/export/terraform/takeover.ts";
import { countText } from "../access/format/words.ts";
import { openPolicy } from "../access/policy/edit/open.ts";
import { UIDS_FILE } from "../access/policy/uids.ts";
import type { Client } from "../client/client.ts";
import { isRoot, printable, UserError } from "../schema/index.ts";
import { systemClient } from "./client.ts";
import { folderProblem, writeFolder } from "./export-folder.ts";
import { exportInto } from "./export-into.ts";
import { withProgress } from "./progress.ts";
import { printStyled } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface ExportFlags {
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

/** What an export writes and reports. */
interface Exported {
  all: Export;
  /** the first one is printed where there is no folder */
  files: Files;
  /** lines of stderr */
  report: readonly string[];
  /** something is not as the program says, or not in it */
  hasFindings: boolean;
}

export const exportCode = async (flags: ExportFlags): Promise<number> => {
  const { out } = flags;
  const problem = problemOf(flags);
  if (problem !== undefined) throw new UsageError(problem);
  if (flags.into !== undefined) return await addTo(flags.into, flags.adopt);
  const { all, files, report, hasFindings } = await exported(systemClient(), flags);
  if (out === undefined) printStyled([...files.values()][0] as string);
  else writeFolder(out, files);
  const wrote = out === undefined ? [] : [`wrote ${printable(out)}: ${countText(all.entries.length, "record")}`];
  const needed = out === undefined && files.has(UIDS_FILE) ? [NEEDS_UIDS] : [];
  for (const line of [...report, ...wrote, ...needed]) process.stderr.write(`${line}\n`);
  return hasFindings ? 3 : 0;
};

const addTo = async (file: string, adopt: boolean): Promise<number> => {
  // A policy with mistakes is an error before any request.
  const opened = openPolicy(file);
  const client = systemClient();
  const read = (chooseTop: ChooseTop) => withProgress((onRead) => readContents(client, chooseTop, onRead));
  const { all, report } = await exportInto(client, opened, adopt, read);
  for (const line of [...reportOf(all), ...report]) process.stderr.write(`${line}\n`);
  return hasUnseen(all) ? 3 : 0;
};

/** What is wrong with the flags, before anything is read. */
const problemOf = (flags: ExportFlags): string | undefined => {
  const { group, fromTfstate, format, adopt, out, split, into } = flags;
  if (into !== undefined) {
    const other = (["group", "fromTfstate", "native", "out", "split"] as const).find(
      (name) => flags[name] !== undefined,
    );
    if (other !== undefined) return `--into and --${FLAGS[other] ?? other} cannot be combined`;
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

const exported = async (client: Client, flags: ExportFlags): Promise<Exported> => {
  const { group, fromTfstate, format, native = false, adopt } = flags;
  const state = fromTfstate === undefined ? undefined : await stateIn(fromTfstate);
  const { contents, managed } = await withProgress(async (onRead): Promise<ManagedContents> => {
    if (state !== undefined) return await readManaged(client, state, format === "yaml", onRead);
    return { contents: await readContents(client, group, onRead), managed: [] };
  });
  const all = exportOf(contents, { ...optionsOf(format, native, adopt), nowMs: await client.serviceNow() });
  const files = filesOf(all, flags);
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
    return parseState(file === "-" ? await textOf(process.stdin) : readFileSync(file, "utf8"));
  } catch (error) {
    const problem = error instanceof StateError ? error.message : `cannot be read: ${(error as Error).message}`;
    throw new UserError(`${file === "-" ? "stdin" : file} ${problem}`);
  }
};

const filesOf = (all: Export, { format, split, native: isNative = false }: ExportFlags): Files => {
  if (format === "yaml" && all.top === "")
    throw new UsageError("--format yaml: a policy is of one organization, and these records are in none or in several");
  if (format === "yaml" && !isRoot(all.top))
    throw new UsageError("--format yaml: a policy is of a whole organization; leave --group out, or export a program");
  return projectOf(all, format, { isNative, isSplit: split === "group" });
};

const FLAGS: Readonly<Record<string, string>> = { fromTfstate: "from-tfstate" };

const hasUnseen = ({ notVisible, notListed }: Export): boolean => notVisible.length + notListed.length > 0;

const reportOf = ({ leftOut, notListed, notVisible }: Export): string[] => [
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
