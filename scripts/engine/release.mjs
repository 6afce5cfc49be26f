// The official release of the engine: download, compare with the published SHA-512, unpack the pieces we need.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { EnvHttpProxyAgent, fetch } from "undici";
import { log } from "../base/project.mjs";
import { engineVersion } from "./version.mjs";

const releaseUrl = `https://github.com/pulumi/pulumi/releases/download/v${engineVersion}`;

/** A machine without internet must get to the next source in seconds. */
const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: 5_000 }, headersTimeout: 5_000, bodyTimeout: 30_000 });

/**
 * Puts these files of the release into the folder.
 * @param {string} folder
 * @param {string[]} pieces
 */
export async function downloadEngine(
  folder,
  pieces,
  { url = releaseUrl, platform = process.platform, arch = process.arch } = {},
) {
  const name = archiveName(platform, arch);
  // Lines of `<hex>  <file>`.
  const sums = (await get(`${url}/SHA512SUMS`)).toString().split("\n");
  const [hash] = sums.map((line) => line.trim().split(/\s+\*?/)).find(([, file]) => file === name) ?? [];
  const wanted = hash?.toLowerCase();
  if (wanted === undefined) throw new Error(`${url}/SHA512SUMS does not list ${name}`);

  log(`downloading ${url}/${name}`);
  const archive = await get(`${url}/${name}`);
  const actual = createHash("sha512").update(archive).digest("hex");
  if (actual !== wanted) {
    throw new Error(`${url}/${name} has SHA-512 ${actual}, but SHA512SUMS says ${wanted}; it was not unpacked`);
  }

  const members = pieces.map((piece) => `pulumi/${piece}`);
  const args = ["-xzf", "-", "-C", folder, "--strip-components=1", ...members];
  const { status, stderr, error } = spawnSync("tar", args, { input: archive, encoding: "utf8" });
  if (status !== 0) throw new Error(`tar could not unpack ${name}: ${error?.message ?? stderr.trim()}`);
}

/** @param {string} platform @param {string} arch */
function archiveName(platform, arch) {
  const hasRelease = ["linux", "darwin"].includes(platform) && ["x64", "arm64"].includes(arch);
  if (!hasRelease) throw new Error(`there is no release that this script can unpack for ${platform} ${arch}`);
  return `pulumi-v${engineVersion}-${platform}-${arch}.tar.gz`;
}

/** @param {string} url @returns {Promise<Buffer>} */
async function get(url) {
  try {
    const response = await fetch(url, { dispatcher });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    // fetch says "fetch failed" and keeps the reason in the cause.
    const { message, cause } = /** @type {Error} */ (error);
    throw new Error(`${url}: ${cause instanceof Error ? cause.message : message}`, { cause: error });
  }
}
