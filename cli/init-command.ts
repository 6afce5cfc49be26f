// The flags of `irm init`.
import type { Command } from "commander";
import type { InitFlags } from "./init.ts";
import type { Exit } from "./terminal.ts";

export const addInitCommand = (program: Command, exit: Exit): void => {
  program
    .command("init")
    .usage("[FILE] [FLAGS]")
    .summary("write a first policy file")
    .description(
      "Writes a policy file with an example and a comment for each section, and a .gitignore beside it if there is none. Never overwrites a file.",
    )
    .argument("[FILE]", "the file to write", "access.yaml")
    .option("--organization <NAME>", "name of the organization", "acme")
    .action(async (file: string, flags: InitFlags) => exit((await import("./init.ts")).init(file, flags)));
};
