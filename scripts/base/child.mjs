// Child processes of the set-up: `run` hands over the terminal, `capture` reads the output.
import { spawn } from "node:child_process";
import { constants } from "node:os";

/** @type {NodeJS.Signals[]} */
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Runs a command to its end and forwards signals to it.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null }>}
 */
export function run(command, args, options) {
  const child = spawn(command, args, options);
  return waitForEnd(child);
}

/**
 * Runs a command and collects its stdout and stderr in the order of arrival.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions & { onOutput?: (text: string) => void }} options
 */
export async function capture(command, args, { onOutput, ...options }) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      output += text;
      onOutput?.(text);
    });
  }
  const end = await waitForEnd(child);
  return { ...end, output };
}

/** Ends this process the way the child ended: with its exit code, or by the signal that killed it. */
export function exitLike(/** @type {{ code: number | null, signal: NodeJS.Signals | null }} */ { code, signal }) {
  if (signal === null) process.exit(code ?? 1);
  process.kill(process.pid, signal);
  // Reached only if the signal did not end this process: exits with the shell's code for it.
  process.exit(128 + (constants.signals[signal] ?? 0));
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null }>}
 */
function waitForEnd(child) {
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    // ^C reaches the whole foreground group, the child too; a second SIGINT would make pulumi stop at once instead of cleanly.
    if (signal === "SIGINT" && hasTerminal()) return;
    child.kill(signal);
  };
  for (const signal of forwarded) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      for (const each of forwarded) process.off(each, forward);
      resolve({ code, signal });
    });
  });
}

function hasTerminal() {
  return process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
}
