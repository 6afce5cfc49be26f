// What a command writes for people.
import { styleText } from "node:util";
import { printableLines } from "../schema/printable.ts";

/** A failure on stderr, last, after the name of the command. */
export const printError = (command: string, message: string): void => {
  process.stderr.write(`${styleText("red", `${command}:`, { stream: process.stderr })} ${printableLines(message)}\n`);
};

/** Text on stdout that may quote records of the service. */
export const print = (text: string): void => {
  process.stdout.write(printableLines(text));
};
