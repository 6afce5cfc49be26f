// The engine on the PATH.
import { execFile } from "node:child_process";

/** Runs the engine on the PATH: what it prints on stdout, or why it failed. */
export type RunEngine = (...args: string[]) => Promise<{ stdout: string } | { problem: string; isMissing: boolean }>;

// An engine that waits for a terminal or for its backend would hold the answer up.
const ENGINE_MS = 30_000;

export const runEngine =
  (cwd: string): RunEngine =>
  (...args) =>
    new Promise((done) => {
      const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
      execFile("pulumi", args, { cwd, env, timeout: ENGINE_MS }, (error, stdout, stderr) => {
        if (!error) return done({ stdout });
        const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
        const text = stderr.trim().replace(/^error: /, "") || error.message;
        done({ problem: isMissing ? "there is no pulumi on the PATH" : text, isMissing });
      });
    });
