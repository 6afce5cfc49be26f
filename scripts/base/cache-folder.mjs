// The user's cache folder, $XDG_CACHE_HOME if set, otherwise the platform's default; and folders in it, complete or absent.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";

/** @returns {string} */
export function cacheFolder(env = process.env, platform = process.platform) {
  const configured = env.XDG_CACHE_HOME;
  // The XDG specification says to ignore a relative path.
  if (configured !== undefined && isAbsolute(configured)) return join(configured, "pulumi-irm");

  const home = env.HOME ?? homedir();
  return platform === "darwin" ? join(home, "Library", "Caches", "pulumi-irm") : join(home, ".cache", "pulumi-irm");
}

/**
 * Calls `fill` with an empty folder and moves that to `folder` when it succeeds, so that no process sees a part.
 * @param {string} folder
 * @param {(staging: string) => Promise<void>} fill
 */
export async function fillFolder(folder, fill) {
  await mkdir(dirname(folder), { recursive: true });
  const staging = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    await fill(staging);
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
