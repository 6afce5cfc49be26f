// The flags of `irm check`.
import type { Command } from "commander";
import type { Exit } from "./terminal.ts";

export const addCheckCommand = (program: Command, exit: Exit): void => {
  program
    .command("check")
    .usage("[FILE]")
    .summary("find the mistakes of a policy file")
    .description(
      "Prints every mistake of a policy file and of the files that it includes, with its line and column and what to write instead. Exits with 1 when there are any. Needs no engine and no network.",
    )
    .argument("[FILE]", "the policy", "access.yaml")
    .action(async (file: string) => exit((await import("./check.ts")).check(file)));
};
