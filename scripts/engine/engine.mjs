// The Pulumi engine: `pulumi` on the PATH, then the cached one, then one that is fetched or built (install.mjs).
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { run } from "../base/child.mjs";
import { root } from "../base/project.mjs";
import { projectNode } from "../setup/dependencies.mjs";
import { findCachedEngine } from "./cache.mjs";
import { findEngineOnPath } from "./path.mjs";
import { editions, nodejsEdition } from "./version.mjs";

/**
 * The folder to put on the PATH; undefined when `pulumi` is on it already.
 * @returns {Promise<string | undefined>}
 */
export async function ensureEngine(edition = nodejsEdition) {
  const found = await findEngine(process.env, edition);
  if (found.engine !== undefined) return found.engine.folder;

  // Under the project's Node, which supports HTTPS_PROXY with a flag.
  const { code } = await run(await projectNode(), [join(root, "scripts", "engine", "install.mjs"), edition.name], {
    env: { ...process.env, NODE_USE_ENV_PROXY: "1" },
    stdio: ["ignore", 2, 2],
  });
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
  const onPath = await findEngineOnPath(env, edition);
  if ("version" in onPath) return { engine: {}, tried: [] };

  const cached = await findCachedEngine(env, edition);
  if (cached.folder !== undefined) return { engine: { folder: cached.folder }, tried: [onPath.problem] };
  return { tried: [onPath.problem, cached.problem] };
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
