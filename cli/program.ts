// Parses a command line of `irm`. Commander reports what is wrong with it.
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import { sealProblem } from "../client/env.ts";
import { RUN } from "../client/run-file.ts";
import { addCiCommands } from "./ci-commands.ts";
import { addCommands } from "./commands.ts";
import { addCompletionCommands } from "./completion.ts";
import { packageVersion } from "./package-version.ts";
import { type Exit, printError } from "./terminal.ts";
import { UsageError } from "./usage.ts";

const createProgram = (exit: Exit): Command => {
  const program = new Command("irm")
    .usage("COMMAND [FLAGS]")
    .description("Access as code for an identity and registry management API: its reference server, and tools for it.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [COMMAND]", "print the description and flags of a command")
    .configureHelp({
      optionTerm: ({ flags }) => flags.replace(/[<>]/g, ""),
      subcommandTerm: (command) => command.name(),
      // The name that npx finds in a project. In another folder, the name irm is whatever package has taken it.
      commandUsage: (command) => `npx pulumi-${nameOf(command)} ${command.usage()}`,
      styleTitle: (text) => styleHelp("bold", text === "Options:" ? "Flags:" : text),
      styleCommandText: (text) => styleHelp("cyan", text),
      styleSubcommandText: (text) => styleHelp("cyan", text),
      styleOptionText: (text) => styleHelp("cyan", text),
    });
  addCommands(program, exit);
  addCiCommands(program, exit);
  addCompletionCommands(program);
  for (const command of commandsBelow(program))
    if (WITH_CREDENTIALS.has(nameOf(command))) command.addHelpText("after", CREDENTIALS);
  return program;
};

/** Commands that run the program. */
const RUNS = /^irm (review|drift|apply|ci)\b/;

/** Commands that call the API, or may do so with a flag. */
const CALLERS = "test review apply drift roles access paths export revoke whoami doctor recover".split(" ");
const WITH_CREDENTIALS: ReadonlySet<string> = new Set(CALLERS.map((name) => `irm ${name}`));
const CREDENTIALS =
  "\nAddress and credentials come from the environment: IRM_BASE_URL, and IRM_TOKEN or another (docs/configuration.md).";

// Commander removes the colours where the stream does not support them.
const styleHelp = (format: "bold" | "cyan", text: string): string => styleText(format, text, { validateStream: false });

/** Runs a command line and returns its exit code: 2 for a usage error, 1 for a failure. */
export const irm = async (args: readonly string[]): Promise<number> => {
  if (process.env[RUN]) {
    printError(
      "irm",
      `${RUN} is set: no command of irm runs in a run that npx pulumi-irm review or npx pulumi-irm apply has started`,
    );
    return 1;
  }
  let code = 0;
  const program = createProgram((own) => {
    code = own;
  });
  let current = program;
  program.hook("preAction", (_, command) => {
    current = command;
    const problem = RUNS.test(nameOf(command)) ? sealProblem(process.env) : undefined;
    if (problem !== undefined) throw new UsageError(problem);
  });
  for (const command of commandsBelow(program)) {
    const name = nameOf(command);
    command
      .exitOverride()
      .configureOutput({ outputError: (text) => printError(name, text.replace(/^error: /, "").trimEnd()) })
      .showHelpAfterError(`Run \`npx pulumi-${name} --help\`.`);
  }
  try {
    await program.parseAsync(args, { from: "user" }).catch((error) => {
      if (error instanceof UsageError) current.error(error.message);
      throw error;
    });
    return code;
  } catch (error) {
    // Help ends with 0, also when a mistake is beside it.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return (await import("./failure.ts")).printFailure(nameOf(current), error);
  }
};

const commandsBelow = (command: Command): Command[] => [command, ...command.commands.flatMap(commandsBelow)];

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
