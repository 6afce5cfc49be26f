// The command `irm` in this process: its exit code and its output. `command.ts` runs it in a separate process.
import { vi } from "vitest";
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
