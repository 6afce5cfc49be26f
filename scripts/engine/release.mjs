// The official release of the engine: download, compare with the published SHA-512, unpack the pieces we need.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { capture } from "../base/child.mjs";
import { log } from "../base/project.mjs";
import { engineVersion } from "./version.mjs";

const releaseUrl = `https://github.com/pulumi/pulumi/releases/download/v${engineVersion}`;
/** A machine without internet must get to the next source in seconds. */
const answerTimeoutMs = 5_000;
const stallTimeoutMs = 30_000;

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
  const sums = await (await get(`${url}/SHA512SUMS`)).text();
  const wanted = checksumOf(sums, name);
  if (wanted === undefined) throw new Error(`${url}/SHA512SUMS does not list ${name}`);

  log(`downloading ${url}/${name}`);
  const archive = join(folder, name);
  const actual = await save(await get(`${url}/${name}`), archive);
  if (actual !== wanted) {
    throw new Error(`${url}/${name} has SHA-512 ${actual}, but SHA512SUMS says ${wanted}; it was not unpacked`);
  }

  const members = pieces.map((piece) => `pulumi/${piece}`);
  const { code, output } = await capture(
    "tar",
    ["-xzf", archive, "-C", folder, "--strip-components=1", ...members],
    {},
  );
  if (code !== 0) throw new Error(`tar could not unpack ${name}: ${output.trim()}`);
  await rm(archive);
}

/** @param {string} platform @param {string} arch */
function archiveName(platform, arch) {
  const hasRelease = ["linux", "darwin"].includes(platform) && ["x64", "arm64"].includes(arch);
  if (!hasRelease) throw new Error(`there is no release that this script can unpack for ${platform} ${arch}`);
  return `pulumi-v${engineVersion}-${platform}-${arch}.tar.gz`;
}

/** @param {string} sums lines of `<hex>  <file>` @param {string} name */
function checksumOf(sums, name) {
  for (const line of sums.split("\n")) {
    const [hash, file] = line.trim().split(/\s+\*?/);
    if (file === name) return hash?.toLowerCase();
  }
  return undefined;
}

async function get(/** @type {string} */ url) {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer in ${answerTimeoutMs / 1000} s`)),
    answerTimeoutMs,
  );
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return response;
  } catch (error) {
    throw new Error(`${url}: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {Response} response
 * @param {string} file
 * @returns {Promise<string>} the SHA-512 of what was written
 */
async function save(response, file) {
  if (response.body === null) throw new Error(`${response.url}: an empty answer`);
  const hash = createHash("sha512");
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(new Error(`no data for ${stallTimeoutMs / 1000} s`)), stallTimeoutMs);
  const watch = new Transform({
    transform(chunk, _encoding, done) {
      timer.refresh();
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    // The DOM's and Node's declarations of the same stream do not agree.
    const body = Readable.fromWeb(/** @type {import("node:stream/web").ReadableStream} */ (response.body));
    await pipeline(body, watch, createWriteStream(file), { signal: stalled.signal });
  } catch (error) {
    throw new Error(`${response.url}: ${reasonOf(stalled.signal.reason ?? error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
  return hash.digest("hex");
}

/** fetch says "fetch failed" and keeps the reason in the cause. */
function reasonOf(/** @type {unknown} */ error) {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
