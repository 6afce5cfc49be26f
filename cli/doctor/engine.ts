// An engine that is installed.
import { execFile } from "node:child_process";

/** Runs the engine: what it prints on stdout, or why it failed. */
export type RunEngine = (...args: string[]) => Promise<{ stdout: string } | { problem: string; isMissing: boolean }>;

// An engine that waits for a terminal or for its backend would hold the answer up.
const ENGINE_MS = 30_000;

/** `found`: the executable; default: the one on the PATH. */
export const runEngine = (cwd: string, found: string | Promise<string | undefined> = "pulumi"): RunEngine => {
  return async (...args) => {
    const engine = await found;
    if (engine === undefined)
      return { problem: "this clone has no engine yet, and there is no pulumi on the PATH", isMissing: true };
    return new Promise((done) => {
      const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
      execFile(engine, args, { cwd, env, timeout: ENGINE_MS }, (error, stdout, stderr) => {
        if (!error) return done({ stdout });
        const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
        const text = stderr.trim().replace(/^error: /, "") || error.message;
        done({ problem: isMissing ? "there is no pulumi on the PATH" : text, isMissing });
      });
    });
  };
};
