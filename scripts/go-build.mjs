// A program from Go modules, for a machine that has Go and its module proxy. It is built in a throw-away module: `go install`
// refuses modules that need a replace.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "./child.mjs";
import { say } from "./project.mjs";

const heartbeatMs = 30_000;

/**
 * @typedef {object} GoBuild
 * @property {string} module
 * @property {string} version
 * @property {string} package folder of the program in its module
 * @property {string} versionVariable set to the version
 * @property {string} [replace] a line of go.mod
 */

/** @param {string} target @param {GoBuild} build */
export async function buildGoProgram(target, build) {
  const folder = await mkdtemp(join(tmpdir(), "pulumi-irm-build-"));
  const started = Date.now();
  let downloads = 0;
  const heartbeat = setInterval(
    () => say(`still building ${build.package}: ${secondsSince(started)} s, ${downloads} modules downloaded`),
    heartbeatMs,
  );
  try {
    await writeFile(join(folder, "go.mod"), goMod(build));
    const ldflags = `-s -w -X ${build.versionVariable}=${build.version}`;
    const args = [
      "build",
      "-mod=mod",
      "-trimpath",
      "-ldflags",
      ldflags,
      "-o",
      target,
      `${build.module}/${build.package}`,
    ];
    const { code, signal, output } = await capture("go", args, {
      cwd: folder,
      // Ignores the user's Go flags and workspace.
      env: { ...process.env, GOFLAGS: "", GOWORK: "off", GO111MODULE: "on" },
      onOutput: (text) => {
        downloads += text.split("go: downloading ").length - 1;
      },
    });
    if (code !== 0) {
      throw new Error(`\`go ${args.join(" ")}\` failed (${signal ?? `exit code ${code}`}):\n${lastLines(output)}`);
    }
  } finally {
    clearInterval(heartbeat);
    await rm(folder, { recursive: true, force: true });
  }
}

function goMod(/** @type {GoBuild} */ build) {
  return [
    "module pulumi-irm.invalid/build",
    "",
    // The language version only; Go raises it to what the dependencies need.
    "go 1.21",
    "",
    `require ${build.module} ${build.version}`,
    "",
    ...(build.replace === undefined ? [] : [`replace ${build.replace}`, ""]),
  ].join("\n");
}

function lastLines(/** @type {string} */ output) {
  const lines = output.split("\n").filter((line) => line !== "" && !line.startsWith("go: downloading "));
  return lines.slice(-20).join("\n");
}

export function secondsSince(/** @type {number} */ startedMs) {
  return Math.round((Date.now() - startedMs) / 1000);
}
