// Flags of the long-running scripts.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "../../cli/usage.ts";

/** Throws UsageError for a flag that does not exist or lacks its value. */
export const parseFlags = <const O extends NonNullable<ParseArgsConfig["options"]>>(args: string[], options: O) => {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
};
