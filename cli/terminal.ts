// What a command writes for people.
import { styleText } from "node:util";

/** A failure on stderr, last, after the name of the command. */
export const printError = (command: string, message: string): void => {
  process.stderr.write(`${styleText("red", `${command}:`, { stream: process.stderr })} ${message}\n`);
};
