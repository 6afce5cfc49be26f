// A command of `irm`: what all of them declare in the same way, and how each reports a wrong command line.
import { Command, CommanderError, Option } from "commander";
import { type Format, printError } from "./terminal.ts";

const append = (text: string, before: string[] = []) => [...before, text];

export class IrmCommand extends Command {
  /** that it has ended with */
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
    return this.option(flags, text, append);
  }

  choice(flags: string, text: string, values: readonly string[], usual?: string): this {
    return this.addOption(new Option(flags, text).choices(values).default(usual));
  }

  /** The first one is the default. */
  formats(...formats: readonly Format[]): this {
    return this.choice("--format <FORMAT>", "how to print it", formats, formats[0]);
  }

  /** Shows below the flags how it is called. */
  example(args: string): this {
    return this.addHelpText("after", `\nExample:\n  npx pulumi-irm ${args}`);
  }

  /** Calls this with its arguments and its flags, and ends with the exit code that it returns. */
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
