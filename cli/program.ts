// Parses a command line of `irm`. Commander reports its mistakes.
import { styleText } from "node:util";
import { type Command, CommanderError, Help } from "commander";
import { RUN } from "../client/run-file.ts";
import { addCompletionCommands } from "./completion.ts";
import { IrmCommand, packageVersion, UsageError } from "./irm-command.ts";
import { printError } from "./terminal.ts";

type Row = [name: string, summary: string, load: () => Promise<{ defineCommand: (command: IrmCommand) => void }>];

/** By purpose, as the help lists them. A command's code loads only for its name on the command line, so the list appears at once. */
const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  Start: [
    ["init", "write a first project: policy, tests, program", () => import("./command/init.ts")],
    ["serve", "run a server of the API here, to try and test on", () => import("./command/serve.ts")],
  ],
  Policy: [
    ["check", "find the mistakes in a policy file, and run its tests", () => import("./command/check.ts")],
    ["test", "test who may do what, in a policy or on the service", () => import("./command/test.ts")],
  ],
  Change: [
    ["review", "show who gains and who loses access by a change", () => import("./command/review.ts")],
    ["apply", "apply a reviewed change, and no other one", () => import("./command/apply.ts")],
  ],
  Operate: [
    ["access", "show who can do what, who you are, and paths to more", () => import("./command/access.ts")],
    ["drift", "show where the service differs from the program", () => import("./command/drift.ts")],
    ["revoke", "remove access: all of one identity, or one grant", () => import("./command/revoke.ts")],
    ["export", "write a program for the records that exist", () => import("./command/export.ts")],
    ["roles", "show the built-in roles, and how they have changed", () => import("./command/roles.ts")],
  ],
  Emergency: [
    ["recover", "delete what a killed run left, and clear its journal", () => import("./command/recover.ts")],
    ["doctor", "find out why a command or an update fails here", () => import("./command/doctor.ts")],
  ],
};

/** Pipelines call it, and people do not. */
const CI: Row = ["ci", "the steps of the GitHub Action and of the GitLab include", () => import("./command/ci.ts")];

/** With the flags of the commands that these arguments name. */
export const createProgram = async (args: readonly string[]): Promise<IrmCommand> => {
  const program = new IrmCommand("irm")
    .usage("COMMAND [FLAGS]")
    .description("Access as code for an identity and registry management API: its reference server, and tools for it.")
    .version(packageVersion, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    // The flags of a command with subcommands count before these alone.
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({
      optionTerm: ({ flags }) => flags.replace(/[<>]/g, ""),
      subcommandTerm: (command) => command.name(),
      visibleCommands: (command) => new Help().visibleCommands(command).filter((one) => one.name() !== "help"),
      commandUsage,
      styleTitle: (text) => styleHelp("bold", text === "Options:" ? "Flags:" : text),
      styleCommandText: (text) => styleHelp("cyan", text),
      styleSubcommandText: (text) => styleHelp("cyan", text),
      styleOptionText: (text) => styleHelp("cyan", text),
    });
  const add = async ([name, summary, load]: Row, hidden = false) => {
    const command = program.command(name, { hidden }).summary(summary).helpCommand(false);
    if (args.includes(name)) (await load()).defineCommand(command);
  };
  for (const [group, rows] of Object.entries(GROUPS)) {
    program.commandsGroup(`${group}:`);
    for (const row of rows) await add(row);
  }
  await add(CI, true);
  addCompletionCommands(program);
  for (const command of commandsBelow(program))
    if (WITH_CREDENTIALS.test(command.path)) command.addHelpText("after", CREDENTIALS);
  return program;
};

/** The name that npx finds in a project. In another folder, the name irm is whatever package has taken it. */
const commandUsage = (command: Command) => {
  const [, words] = /^\[options\](.*)$/.exec(command.usage().replace("[command]", "[COMMAND]")) ?? [];
  const usage = words === undefined ? command.usage() : `${words.replace(/[<>]/g, "")} [FLAGS]`.trim();
  return `npx pulumi-${(command as IrmCommand).path} ${usage}`;
};

/** Commands that call the API, or may do so with a flag. */
const WITH_CREDENTIALS = /^irm (test|review|apply|access( whoami| paths)?|drift|revoke|export|roles|recover|doctor)$/;
const CREDENTIALS =
  "\nAddress and credentials come from the environment: IRM_BASE_URL, and IRM_TOKEN or another (docs/reference/provider.md).";

// Commander removes the colors for a stream that does not support them.
const styleHelp = (format: "bold" | "cyan", text: string) => styleText(format, text, { validateStream: false });

/** Runs a command line and returns its exit code: 2 for a usage error, 1 for a failure. */
export const irm = async (args: readonly string[]): Promise<number> => {
  if (process.env[RUN]) {
    printError(
      "irm",
      `${RUN} is set: no command of irm runs in a run that npx pulumi-irm review or npx pulumi-irm apply has started`,
    );
    return 1;
  }
  const program = await createProgram(args);
  let current = program;
  program.hook("preAction", (_, command) => {
    current = command as IrmCommand;
  });
  try {
    await program.parseAsync(args, { from: "user" }).catch((error) => {
      if (error instanceof UsageError) current.error(error.message);
      throw error;
    });
    return current.exitCode;
  } catch (error) {
    // Help ends with 0, also when a mistake is beside it.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return (await import("./failure.ts")).printFailure(current.path, error);
  }
};

const commandsBelow = (command: Command): IrmCommand[] => [
  command as IrmCommand,
  ...command.commands.flatMap(commandsBelow),
];
