// The browser of the tests: an installed one, or Debian's package on a CI machine that allows installing packages. Never
// installs anything on a developer's machine.
import { capture } from "../base/child.mjs";
import { findOnPath, log } from "../base/project.mjs";

const COMMANDS = ["chromium", "chromium-browser", "google-chrome"];

/**
 * The path of the program, or the reason why it is missing.
 * @returns {Promise<{ command: string, reason?: undefined } | { command?: undefined, reason: string }>}
 */
export async function ensureChromium(env = process.env) {
  const command = await findChromium(env);
  if (command !== undefined) return { command };
  const reason = `none of ${COMMANDS.join(", ")} is on the PATH`;
  if (env.CI !== "true" || process.getuid?.() !== 0 || (await findOnPath("apt-get", env.PATH)) === undefined)
    return { reason };
  log("installing chromium with apt-get: about a minute");
  await capture("apt-get", ["update", "-qq"], { env });
  const installed = await capture("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], { env });
  const found = await findChromium(env);
  return found === undefined
    ? { reason: `apt-get could not install chromium (exit code ${installed.code})` }
    : { command: found };
}

async function findChromium(/** @type {NodeJS.ProcessEnv} */ env) {
  for (const name of COMMANDS) {
    const command = await findOnPath(name, env.PATH);
    if (command !== undefined) return command;
  }
  return undefined;
}
