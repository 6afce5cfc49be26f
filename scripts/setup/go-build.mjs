// A program from Go modules, for a machine that has Go and its module proxy. It is built in a throw-away module: `go install`
// refuses modules that need a replace.
import { chmod, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { capture } from "../base/child.mjs";
import { log } from "../base/project.mjs";

const heartbeatMs = 30_000;

/**
 * @typedef {object} GoBuild
 * @property {string} module
 * @property {string} version
 * @property {string} [package] folder of the program in its module
 * @property {string[]} [sources] the files of a program of this clone that uses the module, instead of a package
 * @property {string} [versionVariable] set to the version
 * @property {string} [replace] a line of go.mod
 * @property {string[]} [scripts] files of the module that belong beside the program
 */

/** @param {string} target @param {GoBuild} build */
export async function buildGoProgram(target, build) {
  const folder = await mkdtemp(join(tmpdir(), "pulumi-irm-build-"));
  const started = Date.now();
  let downloads = 0;
  const heartbeat = setInterval(
    () => log(`still building ${basename(target)}: ${secondsSince(started)} s, ${downloads} modules downloaded`),
    heartbeatMs,
  );
  try {
    await writeFile(join(folder, "go.mod"), goMod(build));
    for (const source of build.sources ?? []) await copyFile(source, join(folder, basename(source)));
    const version = build.versionVariable === undefined ? "" : ` -X ${build.versionVariable}=${build.version}`;
    const program = build.sources === undefined ? `${build.module}/${build.package}` : ".";
    const args = ["build", "-mod=mod", "-trimpath", "-ldflags", `-s -w${version}`, "-o", target, program];
    await runGo(folder, args, (text) => {
      downloads += text.split("go: downloading ").length - 1;
    });
    if (build.scripts !== undefined) await copyScripts(folder, build, build.scripts, dirname(target));
  } finally {
    clearInterval(heartbeat);
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a command of Go, without the user's flags and workspace.
 * @param {string} folder
 * @param {string[]} args
 * @param {(text: string) => void} [onOutput]
 */
export async function runGo(folder, args, onOutput) {
  const { code, signal, output } = await capture("go", args, {
    cwd: folder,
    env: { ...process.env, GOFLAGS: "", GOWORK: "off", GO111MODULE: "on" },
    onOutput,
  });
  if (code === 0) return output;
  throw new Error(`\`go ${args.join(" ")}\` failed (${signal ?? `exit code ${code}`}):\n${lastLines(output)}`);
}

/** @param {string} folder @param {GoBuild} build @param {string[]} scripts @param {string} target */
async function copyScripts(folder, build, scripts, target) {
  const source = (await runGo(folder, ["list", "-mod=mod", "-m", "-f", "{{.Dir}}", build.module])).trim();
  for (const script of scripts) {
    const file = join(target, basename(script));
    await copyFile(join(source, script), file);
    await chmod(file, 0o755);
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
