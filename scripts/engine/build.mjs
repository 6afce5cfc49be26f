// The engine from Go modules, for a machine that has Go and its module proxy but cannot reach the release.
import { join } from "node:path";
import { findOnPath, log } from "../base/project.mjs";
import { buildGoProgram, secondsSince } from "../setup/go-build.mjs";

/**
 * Puts the programs among these pieces into the folder.
 * @param {string} folder
 * @param {import("./version.mjs").Edition["builds"]} builds
 * @param {string[]} pieces
 */
export async function buildEngine(folder, builds, pieces) {
  if ((await findOnPath("go", process.env.PATH)) === undefined) throw new Error("there is no `go` on the PATH");

  if (pieces.includes("pulumi")) {
    log(
      "building the Pulumi engine from Go modules, once per version: 7 to 10 minutes on two cores with an empty Go cache, " +
        "seconds with a full one; Go's caches take 4 GB of disk",
    );
  }
  const started = Date.now();
  for (const [name, build] of Object.entries(builds)) {
    if (!pieces.includes(name)) continue;
    await buildGoProgram(join(folder, name), build);
    log(`${name} ${build.version} is built (${secondsSince(started)} s)`);
  }
}
