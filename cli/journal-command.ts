// The flags of `irm journal`.
import type { Command } from "commander";
import type { Exit } from "./program.ts";

export interface ListFlags {
  folder?: string;
  all?: boolean;
  json?: boolean;
}

export interface CleanFlags {
  folder?: string;
  key?: string;
  all?: boolean;
  invalid?: boolean;
}

const FOLDER = [
  "--folder <FOLDER>",
  "folder of the journals (default: IRM_JOURNAL, or the user's state folder)",
] as const;

export const addJournalCommands = (program: Command, exit: Exit): void => {
  const journal = program
    .command("journal")
    .usage("COMMAND [FLAGS]")
    .summary("what interrupted runs may have created")
    .description(
      "The intent journal of a stack has an entry for each create whose outcome the engine may not know. The next run of the stack settles its entries by itself.",
    )
    .helpCommand(false);
  journal
    .command("list")
    .usage("[FLAGS]")
    .summary("print the creates whose outcome is unknown")
    .description(
      "Prints the creates whose outcome is unknown: sent, and no answer arrived. With --all also those that succeeded, and that the engine has not asked for since. Lines of a journal that are no entries are printed too; no run follows them.",
    )
    .option(...FOLDER)
    .option("--all", "print every entry")
    .option("--json", "print every entry, one line of JSON each")
    .action(async (flags: ListFlags) => exit(await (await import("./journal.ts")).list(flags)));
  journal
    .command("clean")
    .usage("[FLAGS]")
    .summary("forget entries, and remove journals without any")
    .description(
      "Forgets entries: those of KEY, or all; and removes journals without any. The record of an open entry may exist and be managed by nothing: look for it first.",
    )
    .option(...FOLDER)
    .option("--key <KEY>", "the entries of one resource")
    .option("--all", "the entries of all stacks of the folder, and the lines that are none")
    .option("--invalid", "the lines that are no entries")
    .action(async (flags: CleanFlags) => exit(await (await import("./journal.ts")).clean(flags)));
  journal
    .command("pending")
    .usage("FILE")
    .summary("find what an interrupted run created, by the state of the engine")
    .description(
      "Reads what pulumi stack export prints, and prints for each create that did not finish the records that it may have produced, by name and uid; exits with 1 when there are some. Address and credentials are those of the environment: IRM_BASE_URL, and IRM_TOKEN or another one.",
    )
    .argument("<FILE>", "the exported state, or - for stdin")
    .action(async (file: string) => exit(await (await import("./journal.ts")).pending(file)));
};
