// `irm completion SHELL` prints a script; on each TAB it asks `irm complete`, which answers from the command tree.
import type { Command } from "commander";
import { completionsOf } from "./completion.ts";
import { type Shell, scripts } from "./completion-script.ts";

export const addCompletionCommands = (program: Command): void => {
  program
    .command("completion")
    .usage("SHELL")
    .summary("print the completion script for bash, zsh or fish")
    .description(
      `Prints a script that completes commands, flags and their values. Load it when a shell starts:

  bash   source <(irm completion bash)        in ~/.bashrc
  zsh    source <(irm completion zsh)         in ~/.zshrc
  fish   irm completion fish | source         in ~/.config/fish/config.fish`,
    )
    .addArgument(program.createArgument("<SHELL>", "the shell").choices(Object.keys(scripts)))
    .action((shell: Shell) => {
      process.stdout.write(scripts[shell]);
    });
  program
    .command("complete", { hidden: true })
    .argument("[WORDS...]", "the words after irm, up to the cursor; the last one may be empty")
    .helpOption(false)
    .action((words: string[]) => {
      const { kind, values } = completionsOf(program, words);
      const lines = values.map(({ value, description }) => `${value}\t${description}`);
      process.stdout.write(`${[kind, ...lines].join("\n")}\n`);
    });
};
