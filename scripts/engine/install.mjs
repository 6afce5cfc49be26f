// Gets an engine into the cache: the official release, or else a build from Go modules. engine.mjs runs this program under
// the project's Node, with the name of the edition. It prints to stderr only.
import { chmod, copyFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { cacheFolder } from "../base/cache-folder.mjs";
import { withLock } from "../base/lock.mjs";
import { findOnPath, log } from "../base/project.mjs";
import { buildGoProgram } from "../setup/go-build.mjs";
import { storeEngine, takeCachedPieces } from "./cache.mjs";
import { findEngine, versionOf } from "./engine.mjs";
import { downloadEngine } from "./release.mjs";
import { editions, engineVersion, isAtLeast, nodejsEdition, oldestEngine } from "./version.mjs";

const edition = editions.find(({ name }) => name === process.argv[2]) ?? nodejsEdition;

/** @typedef {(folder: string, pieces: string[]) => Promise<void>} Provide */

/** @type {{ name: string, provide: Provide }[]} */
const sources = [
  { name: "the official release", provide: downloadEngine },
  { name: "a build from Go modules", provide: buildEngine },
];

/**
 * For a machine that has Go and its module proxy but cannot reach the release.
 * @param {string} folder
 * @param {string[]} pieces
 */
async function buildEngine(folder, pieces) {
  if ((await findOnPath("go", process.env.PATH)) === undefined) throw new Error("there is no `go` on the PATH");

  if (pieces.includes("pulumi")) {
    log(
      "building the Pulumi engine from Go modules, once per version: 7 to 10 minutes on two cores with an empty Go cache, " +
        "seconds with a full one; Go's caches take 4 GB of disk",
    );
  }
  for (const [name, build] of Object.entries(edition.builds)) {
    if (!pieces.includes(name)) continue;
    await buildGoProgram(join(folder, name), build);
    log(`${name} ${build.version} is built`);
  }
}

async function installEngine() {
  const { engine, tried } = await findEngine(process.env, edition);
  // Another process may have done it meanwhile.
  if (engine !== undefined) return;

  for (const { name, provide } of sources) {
    try {
      const folder = await storeEngine((staging) => fill(staging, provide), process.env, edition);
      log(`Pulumi engine ${edition.name} is ready: ${folder}`);
      return;
    } catch (error) {
      const problem = /** @type {Error} */ (error).message;
      tried.push(`${name}: ${problem}`);
      log(`no engine from ${name}: ${problem.split("\n", 1)[0]}`);
    }
  }
  throw new Error(
    [
      "No Pulumi engine was found on this machine, and none could be installed. Attempts:",
      ...tried.map((line) => `  - ${line}`),
      `What to do: install Pulumi ${oldestEngine} or later so that \`pulumi\` is on the PATH`,
      "(https://www.pulumi.com/docs/iac/download-install/), or install Go 1.25 or later with access to a Go module proxy,",
      "and run this command again.",
    ].join("\n"),
  );
}

/** @param {string} folder @param {Provide} provide */
async function fill(folder, provide) {
  const present = edition === nodejsEdition ? [] : await takeCachedPieces(folder);
  if (!present.includes(DYNAMIC_PROVIDER)) await addDynamicProvider(folder);
  const missing = edition.pieces.filter((piece) => piece !== DYNAMIC_PROVIDER && !present.includes(piece));
  await provide(folder, missing);
  await check(folder);
}

const DYNAMIC_PROVIDER = "pulumi-resource-pulumi-nodejs";

/** It is a shell script that finds the SDK from the folder of the user's program, so any copy of it does. */
async function addDynamicProvider(/** @type {string} */ folder) {
  const sdk = dirname(createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json"));
  const target = join(folder, DYNAMIC_PROVIDER);
  await copyFile(join(sdk, DYNAMIC_PROVIDER), target);
  await chmod(target, 0o755);
}

async function check(/** @type {string} */ folder) {
  const version = await versionOf(join(folder, "pulumi"));
  if (version === undefined) throw new Error("the engine does not run: `pulumi version` failed");
  if (!isAtLeast(version, engineVersion)) throw new Error(`the engine says it is ${version}, not ${engineVersion}`);
}

try {
  await withLock(join(cacheFolder(), "lock", `engine-${edition.name}`), installEngine, (holder) =>
    log(`waiting for another process that is getting the Pulumi engine (${holder})`),
  );
} catch (error) {
  log(/** @type {Error} */ (error).message);
  process.exit(1);
}
