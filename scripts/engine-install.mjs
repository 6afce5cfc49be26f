// Gets an engine into the cache: the official release, or else a build from Go modules. engine.mjs runs this program under
// the project's Node. It prints to stderr only.
import { chmod, copyFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache-folder.mjs";
import { findEngine } from "./engine.mjs";
import { buildEngine } from "./engine-build.mjs";
import { storeEngine } from "./engine-cache.mjs";
import { versionOf } from "./engine-path.mjs";
import { downloadEngine } from "./engine-release.mjs";
import { engineVersion, isAtLeast, oldestEngine } from "./engine-version.mjs";
import { withLock } from "./lock.mjs";
import { say } from "./project.mjs";

const sources = [
  { name: "the official release", provide: downloadEngine },
  { name: "a build from Go modules", provide: buildEngine },
];

async function installEngine() {
  const { engine, tried } = await findEngine();
  // Another process may have done it meanwhile.
  if (engine !== undefined) return;

  for (const { name, provide } of sources) {
    try {
      const folder = await storeEngine(async (staging) => {
        await provide(staging);
        await addDynamicProvider(staging);
        await check(staging);
      });
      say(`Pulumi engine ${engineVersion} is ready: ${folder}`);
      return;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      tried.push(`${name}: ${problem}`);
      say(`no engine from ${name}: ${problem.split("\n", 1)[0]}`);
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

/** The third piece is a shell script that finds the SDK from the folder of the user's program, so any copy of it does. */
async function addDynamicProvider(/** @type {string} */ folder) {
  const sdk = dirname(createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json"));
  const target = join(folder, "pulumi-resource-pulumi-nodejs");
  await copyFile(join(sdk, "pulumi-resource-pulumi-nodejs"), target);
  await chmod(target, 0o755);
}

async function check(/** @type {string} */ folder) {
  const version = await versionOf(join(folder, "pulumi"));
  if (version === undefined) throw new Error("the engine does not run: `pulumi version` failed");
  if (!isAtLeast(version, engineVersion)) throw new Error(`the engine says it is ${version}, not ${engineVersion}`);
}

try {
  await withLock(join(cacheFolder(), "lock", `engine-${engineVersion}`), installEngine, (holder) =>
    say(`waiting for another process that is getting the Pulumi engine (${holder})`),
  );
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
