// The output of a command, its questions, and ^C.

import { createInterface } from "node:readline";
import { styleText } from "node:util";
import { printable, printableLines } from "../schema/nearest.ts";

/** Prints a failure on stderr as the last line, after the name of the command. */
export const printError = (command: string, message: string): void => {
  process.stderr.write(`${styleText("red", `${command}:`, { stream: process.stderr })} ${printableLines(message)}\n`);
};

/** Prints one line on stderr, after the name of the command. */
export const printNotice = (command: string, text: string): void => warn(`${command}: ${printable(text)}`);

/** Prints text on stderr. */
export const warn = (text: string): void => void process.stderr.write(`${printableLines(text)}\n`);

/** Prints text that may quote records of the API. */
export const print = (text: string): void => {
  process.stdout.write(printableLines(text));
};

/** Prints text whose quotes are escaped. It may have colors. */
export const printStyled = (text: string): void => {
  process.stdout.write(text);
};

const WIDTH_DEFAULT = 80;

/** Whether stdout takes colors (a terminal does, unless NO_COLOR is set), and its columns. */
export const stdoutStyle = (): { color: boolean; width: number } => ({
  color: styleText("bold", "x", { stream: process.stdout }) !== "x",
  width: process.stdout.columns || Number(process.env.COLUMNS) || WIDTH_DEFAULT,
});

/** Of a report. */
export type Format = "terminal" | "markdown" | "json" | "html";

/** Whether a person is at the terminal. */
export const canAsk = (): boolean => process.stdin.isTTY === true;

/** The question goes to stderr, so that stdout has the result alone. The end of the input is a no. */
export const ask = (question: string): Promise<boolean> =>
  new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    lines.on("close", () => resolve(false));
    lines.question(`${question} (y/N) `, (answer) => {
      resolve(/^\s*y(es)?\s*$/i.test(answer));
      lines.close();
    });
  });

// ^C during requests that change records: the command reports those that are done, and begins no others.

export const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Aborts the signal, with this reason, at the first ^C or SIGTERM. The second one ends the process. */
export const untilInterrupted = async <T>(
  reason: Error,
  act: (signal: AbortSignal) => Promise<T>,
  notice = "waiting for the requests under way",
): Promise<T> => {
  const controller = new AbortController();
  const stop = () => {
    for (const signal of SIGNALS) process.off(signal, stop);
    process.stderr.write(`${notice}\n`);
    controller.abort(reason);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await act(controller.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
};
