// The Pulumi engine: `pulumi` on the PATH, then the cached one, then one that is fetched or built (install.mjs).
import { readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { capture, run } from "../base/child.mjs";
import { findOnPath, isExecutable, root } from "../base/project.mjs";
import { projectNode } from "../setup/dependencies.mjs";
import { findCachedEngine } from "./cache.mjs";
import { editions, isAtLeast, nodejsEdition, oldestEngine } from "./version.mjs";

/**
 * The folder to put on the PATH; undefined when `pulumi` is on it already.
 * @returns {Promise<string | undefined>}
 */
export async function ensureEngine(edition = nodejsEdition) {
  const found = await findEngine(process.env, edition);
  if (found.engine !== undefined) return found.engine.folder;

  // Under the project's Node: it uses a package, which may need a newer one than this.
  const install = join(root, "scripts", "engine", "install.mjs");
  const { code } = await run(await projectNode(), [install, edition.name], { stdio: ["ignore", 2, 2] });
  // It has printed the error.
  if (code !== 0) process.exit(code ?? 1);
  return (await findCachedEngine(process.env, edition)).folder;
}

/**
 * Looks without changing anything. `tried` has a line for each place without an engine.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ engine?: { folder?: string }, tried: string[] }>}
 */
export async function findEngine(env = process.env, edition = nodejsEdition) {
  const problem = await problemOnPath(env, edition);
  if (problem === undefined) return { engine: {}, tried: [] };
  const onPath = `pulumi on the PATH: ${problem}`;
  const cached = await findCachedEngine(env, edition);
  if (cached.folder !== undefined) return { engine: { folder: cached.folder }, tried: [onPath] };
  return { tried: [onPath, cached.problem] };
}

/**
 * The problem of the `pulumi` that the user has installed; undefined: it is recent enough, and has the language hosts of the edition.
 * @param {NodeJS.ProcessEnv} env
 * @param {import("./version.mjs").Edition} edition
 */
async function problemOnPath(env, { pieces }) {
  const pulumi = await findOnPath("pulumi", env.PATH);
  if (pulumi === undefined) return "not found";
  const version = await versionOf(pulumi, env);
  if (version === undefined) return `${pulumi} does not answer \`pulumi version\``;
  if (!isAtLeast(version, oldestEngine)) return `${pulumi} is ${version}, older than ${oldestEngine}`;
  for (const host of pieces.filter((piece) => /^pulumi-language-[a-z]+$/.test(piece)))
    if (!(await hasLanguageHost(pulumi, host, env))) return `${pulumi} has no ${host} beside it or on the PATH`;
  return undefined;
}

/**
 * The output of `pulumi version`; undefined when it fails.
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
  for (const folder of [dirname(pulumi), dirname(await realpath(pulumi))])
    if (await isExecutable(join(folder, host))) return true;
  return (await findOnPath(host, env.PATH)) !== undefined;
}

/** The edition with the language of the program in this folder, or one above. */
export async function editionIn(/** @type {string} */ start) {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const text = await readFile(join(folder, "Pulumi.yaml"), "utf8").catch(() => undefined);
    const [, runtime] = /^runtime:\s*(?:name:\s*)?([a-z]+)\b/m.exec(text ?? "") ?? [];
    if (text !== undefined)
      return editions.find(({ pieces }) => pieces.includes(`pulumi-language-${runtime}`)) ?? nodejsEdition;
    if (folder === dirname(folder)) return nodejsEdition;
  }
}
