// What a command prints where it cannot go on.
import { UserError } from "../schema/index.ts";
import { clientErrorText } from "./client.ts";
import { printError } from "./terminal.ts";

/** Prints why the command cannot go on, and returns its exit code. Throws any other error: it is a defect, and its stack is wanted. */
export const printFailure = (command: string, error: unknown): number => {
  const isKnown = error instanceof UserError || isOfFile(error);
  const text = isKnown ? error.message : clientErrorText(error);
  if (text === undefined) throw error;
  printError(command, text);
  return error instanceof UserError ? error.exitCode : 1;
};

const isOfFile = (error: unknown): error is Error => error instanceof Error && "syscall" in error && "path" in error;
