// The engines that this project has fetched or built: one folder per edition in the user's cache, complete or absent.
import { copyFile, link } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, fillFolder } from "../base/cache-folder.mjs";
import { isExecutable } from "../base/project.mjs";
import { nodejsEdition } from "./version.mjs";

/** @typedef {import("./version.mjs").Edition} Edition */

/** @param {Edition} edition @param {NodeJS.ProcessEnv} env */
function engineFolder({ name }, env) {
  return join(cacheFolder(env), "engine", name);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ folder: string, problem?: undefined } | { folder?: undefined, problem: string }>}
 */
export async function findCachedEngine(env = process.env, edition = nodejsEdition) {
  const folder = engineFolder(edition, env);
  for (const piece of edition.pieces) {
    if (!(await isExecutable(join(folder, piece)))) return { problem: `the cache: ${folder} has no ${piece}` };
  }
  return { folder };
}

/**
 * @param {(folder: string) => Promise<void>} fill puts the engine into an empty folder
 * @returns {Promise<string>} the folder in the cache
 */
export async function storeEngine(fill, env = process.env, edition = nodejsEdition) {
  const folder = engineFolder(edition, env);
  await fillFolder(folder, fill);
  return folder;
}

/**
 * Puts the pieces of the smaller edition that is in the cache into the folder.
 * @param {string} folder
 * @returns {Promise<string[]>} their names
 */
export async function takeCachedPieces(folder, env = process.env) {
  const { folder: cached } = await findCachedEngine(env);
  if (cached === undefined) return [];
  for (const piece of nodejsEdition.pieces) {
    const [from, to] = [join(cached, piece), join(folder, piece)];
    // A file system without hard links needs another 115 MB.
    await link(from, to).catch(() => copyFile(from, to));
  }
  return nodejsEdition.pieces;
}
