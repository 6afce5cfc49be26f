// A command of `irm`: the declarations of all commands, and the report of a wrong command line.

import { Command, CommanderError, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import { type Format, printError } from "./terminal.ts";

export class IrmCommand extends Command {
  /** after its end */
  exitCode = 0;

  override createCommand(name?: string): IrmCommand {
    return new IrmCommand(name);
  }

  /** `irm recover list` */
  get path(): string {
    return this.parent instanceof IrmCommand ? `${this.parent.path} ${this.name()}` : this.name();
  }

  /** A flag that may be given several times. */
  repeatable(flags: string, text: string): this {
    return this.option(flags, text, (one: string, before: string[] = []) => [...before, one]);
  }

  choice(flags: string, text: string, values: readonly string[], usual?: string): this {
    return this.addOption(new Option(flags, text).choices(values).default(usual));
  }

  /** The first one is the default. */
  formats(...formats: readonly Format[]): this {
    return this.choice("--format <FORMAT>", "output format", formats, formats[0]);
  }

  /** Shows an example call below the flags. */
  example(args: string): this {
    return this.addHelpText("after", `\nExample:\n  npx pulumi-irm ${args}`);
  }

  /** Calls the function with the arguments and the flags, and ends with its exit code. */
  runs(act: (...args: never[]) => number | Promise<number>): this {
    return this.action(async (...args) => {
      this.exitCode = await act(...(args as never[]));
    });
  }

  override error(message: string): never {
    printError(this.path, `${message.replace(/^error: /, "")}\nRun \`npx pulumi-${this.path} --help\`.`);
    throw new CommanderError(2, "irm.usage", message);
  }
}

// Parsers of flag values. A wrong value is a UsageError.

/** A wrong command line: the command prints the message and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const parsePort = (flag: string, text: string): number => {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`${flag} takes a port from 0 (any free one) to 65535, not ${JSON.stringify(text)}`);
  return port;
};

export const parseCount = (flag: string, text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new UsageError(`${flag} takes a whole number from 1 to 999999, not ${JSON.stringify(text)}`);
  return Number(text);
};

// The words that start this command: npm starts it in a clone, npx in a project.

const { npm_command, npm_lifecycle_event } = process.env;

export const commandName =
  npm_command?.startsWith("run") && npm_lifecycle_event === "irm" ? "npm run -s irm --" : "npx pulumi-irm";

/** The command of the engine, for a reader of `commandName`. */
export const pulumiName = commandName.startsWith("npm") ? "npm run -s pulumi --" : "pulumi";

/** The version of this package. */
export const packageVersion: string = manifest.version;
