// The user's cache folder: $XDG_CACHE_HOME if set, otherwise the platform's default.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** @returns {string} */
export function cacheFolder(env = process.env, platform = process.platform) {
  const configured = env.XDG_CACHE_HOME;
  // The XDG specification says to ignore a relative path.
  if (configured !== undefined && isAbsolute(configured)) return join(configured, "pulumi-irm");

  const home = env.HOME ?? homedir();
  return platform === "darwin" ? join(home, "Library", "Caches", "pulumi-irm") : join(home, ".cache", "pulumi-irm");
}
