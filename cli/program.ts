// Parses a command line of `irm`, and reports what is wrong with it.
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import { addCommands } from "./commands.ts";
import { addCompletionCommands } from "./completion-command.ts";
import { addHelpCommand } from "./help-command.ts";
import { type Exit, printError } from "./terminal.ts";
import { UsageError } from "./usage.ts";

const createProgram = (exit: Exit): Command => {
  const program = new Command("irm")
    .usage("COMMAND [FLAGS]")
    .description("Access as code for an identity and registry management API: its reference server, and tools for it.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .configureHelp({
      optionTerm: ({ flags }) => flags.replace(/[<>]/g, ""),
      subcommandTerm: (command) => command.name(),
      styleTitle: (text) => styleHelp("bold", text === "Options:" ? "Flags:" : text),
      styleCommandText: (text) => styleHelp("cyan", text),
      styleSubcommandText: (text) => styleHelp("cyan", text),
      styleOptionText: (text) => styleHelp("cyan", text),
    })
    // Errors are printed below, by `report`.
    .configureOutput({ outputError: () => {} });
  addCommands(program, exit);
  addHelpCommand(program);
  addCompletionCommands(program);
  return program;
};

const version = (): string =>
  (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;

// Commander removes the colours where the stream does not support them.
const styleHelp = (format: "bold" | "cyan", text: string): string => styleText(format, text, { validateStream: false });

/** Runs a command line and returns its exit code: 2 for a usage error, 1 for a failure. */
export const irm = async (args: readonly string[]): Promise<number> => {
  let code = 0;
  const program = createProgram((own) => {
    code = own;
  });
  let current = program;
  for (const command of commandsBelow(program))
    command.exitOverride((error) => {
      current = command;
      throw error;
    });
  program.hook("preAction", (_, command) => {
    current = command;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    return report(current, error);
  }
};

const commandsBelow = (command: Command): Command[] => [command, ...command.commands.flatMap(commandsBelow)];

const report = (command: Command, error: unknown): number => {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  // The user named a group of commands without a subcommand, so commander has printed its help.
  if (error instanceof CommanderError && error.code === "commander.help") return 2;
  if (!(error instanceof CommanderError || error instanceof UsageError)) throw error;
  const name = nameOf(command);
  const sentence = error instanceof CommanderError ? sentenceOf(command, error) : error.message;
  printError(name, `${sentence}\nRun \`${name} --help\`.`);
  return 2;
};

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

// Turns commander's "error: unknown option '--prot'\n(Did you mean --port?)" into one sentence.
const sentenceOf = (command: Command, { message }: CommanderError): string => {
  const [, flag] = /^error: unknown option '(--[^=']+)=/.exec(message) ?? [];
  if (command.options.some(({ long }) => long === flag)) return `${flag} takes no value`;
  return message
    .replace(/^error: /, "")
    .replaceAll("option '--", "flag '--")
    .replace(/\n\(Did you mean (.*)\)$/s, "; did you mean $1");
};
