// The engine from Go modules, for a machine that has Go and its module proxy but cannot reach the release.
// Each program is built in a throw-away module: `go install` refuses modules that need a replace.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "./child.mjs";
import { goBuilds } from "./engine-version.mjs";
import { findOnPath, say } from "./project.mjs";

const heartbeatMs = 30_000;

/**
 * Puts `pulumi` and `pulumi-language-nodejs` into the folder.
 * @param {string} folder
 */
export async function buildEngine(folder) {
  if ((await findOnPath("go", process.env.PATH)) === undefined) throw new Error("there is no `go` on the PATH");

  say(
    "building the Pulumi engine from Go modules, once per version: 7 to 10 minutes on two cores with an empty Go cache, " +
      "seconds with a full one; Go's caches take 4 GB of disk",
  );
  const started = Date.now();
  for (const [name, build] of Object.entries(goBuilds)) {
    await buildProgram(join(folder, name), build);
    say(`${name} ${build.version} is built (${secondsSince(started)} s)`);
  }
}

/** @param {string} target @param {typeof goBuilds[keyof typeof goBuilds]} build */
async function buildProgram(target, build) {
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
      // The user's flags and workspace are for the user's modules.
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

function goMod(/** @type {typeof goBuilds[keyof typeof goBuilds]} */ build) {
  return [
    "module pulumi-irm.invalid/engine",
    "",
    // The language version only; Go raises it to what the dependencies need.
    "go 1.21",
    "",
    `require ${build.module} ${build.version}`,
    "",
    `replace ${build.replace}`,
    "",
  ].join("\n");
}

function lastLines(/** @type {string} */ output) {
  const lines = output.split("\n").filter((line) => line !== "" && !line.startsWith("go: downloading "));
  return lines.slice(-20).join("\n");
}

function secondsSince(/** @type {number} */ startedMs) {
  return Math.round((Date.now() - startedMs) / 1000);
}
