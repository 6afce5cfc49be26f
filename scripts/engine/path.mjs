// A `pulumi` that the user has installed: recent enough, and with the language hosts of an edition.
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { capture } from "../base/child.mjs";
import { findOnPath, isExecutable } from "../base/project.mjs";
import { isAtLeast, nodejsEdition, oldestEngine } from "./version.mjs";

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ version: string } | { problem: string }>}
 */
export async function findEngineOnPath(env = process.env, { pieces } = nodejsEdition) {
  const pulumi = await findOnPath("pulumi", env.PATH);
  if (pulumi === undefined) return { problem: "pulumi on the PATH: not found" };

  const version = await versionOf(pulumi, env);
  if (version === undefined) return { problem: `pulumi on the PATH: ${pulumi} does not answer \`pulumi version\`` };
  if (!isAtLeast(version, oldestEngine)) {
    return { problem: `pulumi on the PATH: ${pulumi} is ${version}, older than ${oldestEngine}` };
  }
  for (const host of pieces.filter((piece) => /^pulumi-language-[a-z]+$/.test(piece))) {
    if (await hasLanguageHost(pulumi, host, env)) continue;
    return { problem: `pulumi on the PATH: ${pulumi} has no ${host} beside it or on the PATH` };
  }
  return { version };
}

/**
 * What `pulumi version` prints; undefined when it fails.
 * @param {string} pulumi
 * @param {NodeJS.ProcessEnv} env
 */
export async function versionOf(pulumi, env = process.env) {
  const { code, output } = await capture(pulumi, ["version"], {
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    timeout: 30_000,
  }).catch(() => ({ code: 1, output: "" }));
  // The version is the last line: a warning may come before it.
  return code === 0 ? output.trim().split("\n").at(-1) : undefined;
}

/** @param {string} pulumi @param {string} host @param {NodeJS.ProcessEnv} env */
async function hasLanguageHost(pulumi, host, env) {
  // The engine looks beside the file that a link points to, too.
  const folders = [dirname(pulumi), dirname(await realpath(pulumi))];
  for (const folder of folders) {
    if (await isExecutable(join(folder, host))) return true;
  }
  return (await findOnPath(host, env.PATH)) !== undefined;
}
