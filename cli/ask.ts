// A question to the person at the terminal.
import { createInterface } from "node:readline";

/** Whether someone can be asked. */
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
