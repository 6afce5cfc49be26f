#!/usr/bin/env node
// `irm`: picks the command. Each command parses its own flags; wrong ones print usage and exit with 2.
// What the commands import needs node:sqlite and more: an older Node would end with a stack of its own.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`irm: Node ${process.versions.node} is too old; it takes Node 22.19 or later\n`);
  process.exit(1);
}
const [{ journal }, { serve }, { token }, { UsageError }] = await Promise.all([
  import("./journal.ts"),
  import("./serve.ts"),
  import("./token.ts"),
  import("./usage.ts"),
]);

interface Command {
  summary: string;
  usage: string;
  run: (args: string[]) => Promise<number>;
}

const commands: Record<string, Command> = { serve, token, journal };

const usage = `Usage: irm COMMAND [FLAGS]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`)
  .join("\n")}

irm COMMAND --help tells the flags of a command.
`;

const main = async ([name, ...args]: string[]): Promise<number> => {
  if (name === undefined || name === "--help" || name === "-h") {
    (name === undefined ? process.stderr : process.stdout).write(usage);
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    process.stderr.write(`irm: there is no command ${JSON.stringify(name)}\n\n${usage}`);
    return 2;
  }
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(command.usage);
    return 0;
  }
  try {
    return await command.run(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`irm ${name}: ${error.message}\n\n${command.usage}`);
    return 2;
  }
};

process.exitCode = await main(process.argv.slice(2));
