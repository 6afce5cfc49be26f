// `irm completion SHELL` prints a script; on each TAB it asks `irm complete`, which answers from the command tree.
import type { Command, Option } from "commander";
import { type Shell, scripts } from "./completion-script.ts";

export const addCompletionCommands = (program: Command): void => {
  program
    .command("completion", { hidden: true })
    .usage("SHELL")
    .description("Prints a script that completes commands, flags and their values. Load it when a shell starts.")
    .addHelpText(
      "after",
      `
Examples:
  bash   source <(npx pulumi-irm completion bash)        in ~/.bashrc
  zsh    source <(npx pulumi-irm completion zsh)         in ~/.zshrc
  fish   npx pulumi-irm completion fish | source         in ~/.config/fish/config.fish`,
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

interface Completions {
  /** the shell lists `files` and `folders` */
  kind: "values" | "files" | "folders";
  values: { value: string; description: string }[];
}

/** Completions for the end of a command line. `words` follow `irm`, up to the cursor. */
const completionsOf = (program: Command, words: readonly string[]): Completions => {
  const current = words.at(-1) ?? "";
  const { command, awaiting, given, operands } = placeAfter(program, words.slice(0, -1));
  const [prefix = "", flag = ""] = awaiting ? [] : (/^(--[^=]+)=/.exec(current) ?? []);
  const option = awaiting ?? optionOf(command, flag);
  if (option) return valuesOf(option.argChoices, option.flags, current, prefix);
  if (current.startsWith("-")) return choose(flagsOf(command, given), current);
  if (command.commands.length > 0) return choose(commandsOf(command), current);
  const argument = command.registeredArguments[operands];
  return argument ? valuesOf(argument.argChoices, argument.name(), current) : choose(flagsOf(command, given), current);
};

interface Place {
  command: Command;
  /** the flag whose value comes next */
  awaiting?: Option | undefined;
  /** flags that were given */
  given: Set<string>;
  /** how many arguments were given */
  operands: number;
}

const placeAfter = (program: Command, words: readonly string[]): Place => {
  const place: Place = { command: program, given: new Set(), operands: 0 };
  for (const word of words) {
    const next = place.command.commands.find((one) => one.name() === word);
    if (place.awaiting) place.awaiting = undefined;
    else if (word.startsWith("-") && word !== "-") {
      const [flag = "", value] = word.split("=", 2);
      place.given.add(flag);
      const option = optionOf(place.command, flag);
      if (option?.required && value === undefined) place.awaiting = option;
    } else if (next) place.command = next;
    else place.operands += 1;
  }
  return place;
};

const optionOf = (command: Command, flag: string) =>
  command.options.find(({ long, short }) => long === flag || short === flag);

/** The shell lists the files where a value has no choices. `prefix`: what of the word is before the value. */
const valuesOf = (
  choices: readonly string[] | undefined,
  placeholder: string,
  current: string,
  prefix = "",
): Completions =>
  choices
    ? choose(
        choices.map((one) => ({ value: prefix + one, description: "" })),
        current,
      )
    : { kind: kindOf(placeholder), values: [] };

// The placeholder says what a value is: `--db FILE`, `--folder FOLDER`.
const kindOf = (placeholder: string) => {
  if (placeholder.includes("FILE")) return "files";
  return placeholder.includes("FOLDER") ? "folders" : "values";
};

// A flag with a parser of its own is repeatable.
const flagsOf = (command: Command, given: ReadonlySet<string>) =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long, parseArg, argChoices }) => (parseArg && !argChoices) || !given.has(long as string))
    .map(({ long, description }) => ({ value: long as string, description }));

const commandsOf = (command: Command) =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ value: one.name(), description: one.summary() || one.description() }));

const choose = (values: Completions["values"], current: string): Completions => ({
  kind: "values",
  values: values.filter(({ value }) => value.startsWith(current)),
});
