// A program from Go modules, for a machine that has Go and its module proxy. It is built in a throw-away module: `go install`
// refuses modules that need a replace.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";

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
  try {
    await writeFile(join(folder, "go.mod"), goMod(build));
    for (const source of build.sources ?? []) await copyFile(source, join(folder, basename(source)));
    const version = build.versionVariable === undefined ? "" : ` -X ${build.versionVariable}=${build.version}`;
    const program = build.sources === undefined ? `${build.module}/${build.package}` : ".";
    const args = ["build", "-mod=mod", "-trimpath", "-ldflags", `-s -w${version}`, "-o", target, program];
    await runGo(folder, args);
    if (build.scripts !== undefined) await copyScripts(folder, build, build.scripts, dirname(target));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a command of Go, without the user's flags and workspace. Go prints its progress and its errors to stderr.
 * @param {string} folder
 * @param {string[]} args
 * @returns {Promise<string>} its stdout
 */
export async function runGo(folder, args) {
  const env = { ...process.env, GOFLAGS: "", GOWORK: "off", GO111MODULE: "on" };
  const child = spawn("go", args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (code === 0) return output;
  throw new Error(`\`go ${args.join(" ")}\` failed (${signal ?? `exit code ${code}`}); its reason is above`);
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
    // The language version only; Go raises it to the one that the dependencies need.
    "go 1.21",
    "",
    `require ${build.module} ${build.version}`,
    "",
    ...(build.replace === undefined ? [] : [`replace ${build.replace}`, ""]),
  ].join("\n");
}
