// A script that a runner executes: bash, and what it prints on both streams.
import { spawn } from "node:child_process";

export const runScript = async (
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ code: number; output: string }> => {
  const child = spawn("bash", args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const code = await new Promise<number>((done, fail) => {
    child.on("error", fail);
    child.on("close", (status) => done(status ?? 1));
  });
  return { code, output };
};
