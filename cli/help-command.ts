// `irm help [COMMAND...]`: what `irm COMMAND --help` prints.
import type { Command } from "commander";

export const addHelpCommand = (program: Command): void => {
  program
    .command("help")
    .usage("[COMMAND...]")
    .summary("print what a command does, and its flags")
    .description("Prints what a command does, and its flags; without a command, the list of commands.")
    .argument("[COMMAND...]", "such as: journal list")
    .action(async (names: string[]) => {
      let command = program;
      for (const [i, name] of names.entries()) {
        if (command.commands.length === 0) break;
        const found = command.commands.find((one) => one.name() === name);
        // As a command line this is refused, with the nearest name.
        if (!found) return void (await program.parseAsync(names.slice(0, i + 1), { from: "user" }));
        command = found;
      }
      command.help();
    });
};
