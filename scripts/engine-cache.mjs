// The engines that this project has fetched or built: one folder per version in the user's cache, complete or absent.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache-folder.mjs";
import { engineVersion } from "./engine-version.mjs";
import { isExecutable } from "./project.mjs";

/** The engine looks for the other two beside its own file. */
export const enginePieces = ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

function engineFolder(env = process.env) {
  return join(cacheFolder(env), "engine", engineVersion);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ folder: string, problem?: undefined } | { folder?: undefined, problem: string }>}
 */
export async function findCachedEngine(env = process.env) {
  const folder = engineFolder(env);
  for (const piece of enginePieces) {
    if (!(await isExecutable(join(folder, piece)))) return { problem: `the cache: ${folder} has no ${piece}` };
  }
  return { folder };
}

/**
 * Calls `fill` with an empty folder and moves it to its place when that succeeds, so that no process sees a partial engine.
 * @param {(folder: string) => Promise<void>} fill
 */
export async function storeEngine(fill, env = process.env) {
  const folder = engineFolder(env);
  await mkdir(dirname(folder), { recursive: true });
  const staging = await mkdtemp(join(dirname(folder), `.${engineVersion}-`));
  try {
    await fill(staging);
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return folder;
}
