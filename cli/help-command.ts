// `irm help [COMMAND...]`: what `irm COMMAND --help` prints.
import type { Command } from "commander";

export const addHelpCommand = (program: Command): void => {
  program
    .command("help")
    .usage("[COMMAND...]")
    .summary("print the description and flags of a command")
    .description("Prints the description and flags of a command; without a command, the list of commands.")
    .argument("[COMMAND...]", "such as: journal list")
    .action(async (names: string[]) => {
      let command = program;
      for (const [i, name] of names.entries()) {
        if (command.commands.length === 0) break;
        const found = command.commands.find((one) => one.name() === name);
        // Parsing it as a command line reports the nearest name.
        if (!found) return void (await program.parseAsync(names.slice(0, i + 1), { from: "user" }));
        command = found;
      }
      command.help();
    });
};
