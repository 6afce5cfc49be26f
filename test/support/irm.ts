// The command `irm` in this process: its exit code and its output. `command.ts` runs it in a separate process.
import { expect, vi } from "vitest";
import { irm } from "../../cli/program.ts";
import type { Finished } from "./command.ts";

export const runIrm = async (...args: string[]): Promise<Finished> => {
  const written = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      written[stream] += text;
      return true;
    }),
  );
  const code = await irm(args).finally(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return { code, ...written };
};

/** What a command, such as `irm serve`, says of a wrong command line: the problem, and where its flags are explained. */
export const usageError = (command: string, problem: string): Finished => ({
  code: 2,
  stdout: "",
  stderr: `${command}: ${problem}
Run \`npx pulumi-${command} --help\`.
`,
});

/** A command that prints this, and nothing on stderr. */
export const success = (stdout: string): Finished => ({ code: 0, stdout, stderr: "" });

/** One that prints nothing on stdout, and exactly this on stderr. */
export const exactFailure = (code: number, stderr: string): Finished => ({ code, stdout: "", stderr });

/** One that prints nothing on stdout, and this text among others on stderr. */
export const failure = (code: number, text: string | RegExp): Finished => ({
  code,
  stdout: "",
  stderr: typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
});
