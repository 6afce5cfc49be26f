// The flags of `irm journal`.
import type { Command } from "commander";
import type { CleanFlags, ListFlags } from "./journal.ts";
import type { Exit } from "./terminal.ts";

const FOLDER = [
  "--folder <FOLDER>",
  "folder of the journals (default: IRM_JOURNAL, or the user's state folder)",
] as const;

export const addJournalCommands = (program: Command, exit: Exit): void => {
  const journal = program
    .command("journal")
    .usage("COMMAND [FLAGS]")
    .summary("list or clear creates that interrupted runs left behind")
    .description(
      "The journal of a stack holds an entry for each create whose outcome the engine may not know. The next run of the stack resolves its entries.",
    )
    .helpCommand(false);
  journal
    .command("list")
    .usage("[FLAGS]")
    .summary("print the creates whose outcome is unknown")
    .description(
      "Prints the creates whose outcome is unknown: the request was sent, and no response arrived. With --all, also prints creates that succeeded and that the engine has not read since. Invalid lines of a journal are printed too; runs ignore them.",
    )
    .option(...FOLDER)
    .option("--all", "print every entry")
    .option("--json", "print every entry, one line of JSON each")
    .action(async (flags: ListFlags) => exit(await (await import("./journal.ts")).list(flags)));
  journal
    .command("clean")
    .usage("[FLAGS]")
    .summary("remove entries and empty journals")
    .description(
      "Removes the entries of KEY, or all entries, and removes empty journals. The record of a pending entry may exist without a resource that manages it: look for it first.",
    )
    .option(...FOLDER)
    .option("--key <KEY>", "remove the entries of this resource")
    .option("--all", "remove all entries of all stacks in the folder, and all invalid lines")
    .option("--invalid", "remove the invalid lines")
    .action(async (flags: CleanFlags) => exit(await (await import("./journal.ts")).clean(flags)));
  journal
    .command("pending")
    .usage("FILE")
    .summary("find what an interrupted run created, from the engine's state")
    .description(
      "Reads the output of pulumi stack export. For each create that did not finish, prints the records that it may have produced, by name and uid. Exits with 1 when there are any. Uses the address and credentials of the environment: IRM_BASE_URL, and IRM_TOKEN or another credential.",
    )
    .argument("<FILE>", "the exported state, or - for stdin")
    .action(async (file: string) => exit(await (await import("./journal.ts")).pending(file)));
};
