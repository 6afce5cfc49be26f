// The command `irm` in this process: what it would exit with, and what it wrote. A process of its own is `command.ts`.
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
