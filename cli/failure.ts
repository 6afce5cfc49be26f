// The last output of a command that cannot go on.
import { UserError } from "../schema/index.ts";
import { clientErrorText } from "./client.ts";
import { printError } from "./terminal.ts";

/** Prints the problem, and returns the exit code. Throws any other error: a defect needs its stack. */
export const printFailure = (command: string, error: unknown): number => {
  const isKnown = error instanceof UserError || isOfFile(error);
  const text = isKnown ? error.message : clientErrorText(error);
  if (text === undefined) throw error;
  printError(command, text);
  return error instanceof UserError ? error.exitCode : 1;
};

const isOfFile = (error: unknown): error is Error => error instanceof Error && "syscall" in error && "path" in error;
