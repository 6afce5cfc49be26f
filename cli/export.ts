// `irm export`: code for what exists, on stdout or as a project in a folder. What the caller cannot see is named on stderr too.
import { leftOutText, notVisibleText } from "../access/export/comment.ts";
import { type Export, exportOf } from "../access/export/model.ts";
import { type Files, type Format, optionsOf, projectOf } from "../access/export/project.ts";
import { KINDS, readContents } from "../access/export/read.ts";
import type { ExportOptions } from "../access/export/value.ts";
import { countText } from "../access/format/words.ts";
import { QuestionError } from "../access/query/question.ts";
import type { Client } from "../client/client.ts";
import { isRoot, printable } from "../schema/index.ts";
import { clientErrorText, systemClient } from "./client.ts";
import { folderProblem, writeFolder } from "./export-folder.ts";
import { progressOf } from "./progress.ts";
import { printError, printStyled } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface ExportFlags {
  group?: string;
  format: Format;
  native?: boolean;
  adopt: boolean;
  out?: string;
  split?: "group";
}

export const exportCode = async (flags: ExportFlags): Promise<number> => {
  const { group, out } = flags;
  const problem = out === undefined ? undefined : folderProblem(out);
  if (problem !== undefined) throw new UsageError(`--out: ${problem}`);
  if (out === undefined && flags.format === "yaml")
    throw new UsageError("--format yaml writes a policy and a program: give --out FOLDER");
  if (flags.split !== undefined && flags.format !== "yaml") throw new UsageError("--split is for --format yaml");
  try {
    const client = systemClient();
    const all = await readExport(client, group, optionsOf(flags.format, flags.native === true, flags.adopt));
    const files = filesOf(all, flags);
    if (out === undefined) printStyled([...files.values()][0] as string);
    else writeFolder(out, files);
    report(all, out);
    return all.notVisible.length + all.notListed.length > 0 ? 3 : 0;
  } catch (error) {
    const text = error instanceof QuestionError ? error.message : (clientErrorText(error) ?? fileErrorText(error));
    if (text === undefined) throw error;
    printError("irm export", text);
    return 1;
  }
};

const readExport = async (
  client: Client,
  group: string | undefined,
  options: Omit<ExportOptions, "nowMs">,
): Promise<Export> => {
  const progress = progressOf(KINDS.length);
  let [lists, records] = [0, 0];
  try {
    const contents = await readContents(client, group, (_, count) => {
      [lists, records] = [lists + 1, records + count];
      progress.show(lists, `${lists} of ${KINDS.length} lists, ${countText(records, "record")}`);
    });
    return exportOf(contents, { ...options, nowMs: await client.serviceNow() });
  } finally {
    progress.clear();
  }
};

const filesOf = (all: Export, { format, split, native: isNative = false }: ExportFlags): Files => {
  if (format === "yaml" && !isRoot(all.top))
    throw new UsageError("--format yaml: a policy is of a whole organization; leave --group out, or export a program");
  return projectOf(all, format, { isNative, isSplit: split === "group" });
};

const report = ({ entries, leftOut, notListed, notVisible }: Export, out: string | undefined): void => {
  const lines = [
    ...leftOut.map((one) => `not declared: ${leftOutText(one)}`),
    ...notListed.map((one) => `named by others, and in no list: ${one}`),
    ...notVisible.map((one) => `not visible: ${notVisibleText(one)}`),
    ...(out === undefined ? [] : [`wrote ${printable(out)}: ${countText(entries.length, "record")}`]),
  ];
  for (const line of lines) process.stderr.write(`${line}\n`);
};

const fileErrorText = (error: unknown): string | undefined =>
  error instanceof Error && "syscall" in error && "path" in error ? error.message : undefined;
