// The command line of the long-running scripts.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "../../cli/irm-command.ts";

/** Throws UsageError for a flag that does not exist or lacks its value. */
export const parseFlags = <const O extends NonNullable<ParseArgsConfig["options"]>>(args: string[], options: O) => {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
};

/** Runs a script. Reports a UsageError before the usage, and exits with 2. */
export const runScript = async (name: string, usage: string, main: (args: string[]) => Promise<number>) => {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${name}: ${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
};
