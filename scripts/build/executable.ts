// The executable: Node 26 with the command and the plugin in it (https://nodejs.org/api/single-executable-applications.html).
import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { root } from "../base/project.mjs";
import { ensureExecutableNode } from "../setup/executable-node.mjs";
import { bundleExecutable, licensesOf } from "./bundle.ts";

/** The names under which it is the command, and the plugin. */
const COMMAND = "pulumi-irm";
const PLUGIN = "pulumi-resource-irm";
const ending = process.platform === "win32" ? ".exe" : "";

/** Writes the executable of this platform to `linux-x64` or the like in `release`. Returns the paths of its files in `release`. */
export async function writeExecutable(release: string, version: string): Promise<string[]> {
  const node = await ensureExecutableNode();
  const platform = `${process.platform}-${process.arch}`;
  const folder = join(release, platform);
  await mkdir(folder, { recursive: true });
  const staging = await mkdtemp(join(tmpdir(), "pulumi-irm-executable-"));
  try {
    const main = join(staging, "main.cjs");
    const { modules, files } = await bundleExecutable(join(root, "cli", "executable.ts"), main, version);
    const config = join(staging, "sea-config.json");
    const settings = {
      main,
      // Without it, a start of the plugin takes twice as long.
      useCodeCache: true,
      output: join(folder, COMMAND + ending),
      assets: Object.fromEntries(files.concat(RENDERER).map((file) => [file, sourceOf(file)])),
      disableExperimentalSEAWarning: true,
      // NODE_OPTIONS of other programs would change it.
      execArgvExtension: "none",
    };
    await writeFile(config, JSON.stringify(settings));
    execFileSync(node.command, ["--build-sea", config], { stdio: ["ignore", "ignore", "inherit"] });
    await chmod(settings.output, 0o755);
    // The change of the binary has broken Node's signature, without which macOS does not start it. Untried.
    if (process.platform === "darwin") execFileSync("codesign", ["--force", "--sign", "-", settings.output]);
    await writeFile(join(folder, "LICENSE-node.txt"), node.license);
    await writeFile(join(folder, "LICENSE-third-party.txt"), await licensesOf(modules));
  } finally {
    await rm(staging, { recursive: true });
  }
  const plugin = join(folder, PLUGIN + ending);
  await (ending === "" ? symlink(COMMAND, plugin) : link(join(folder, COMMAND + ending), plugin));
  return [COMMAND + ending, PLUGIN + ending].map((name) => join(platform, name));
}

/** The renderer of the server's page, which is a package in the clone (server/pages/pages.ts). */
const RENDERER = ["swagger-ui.css", "swagger-ui-bundle.js"].map((name) => `server/pages/assets/${name}`);

const sourceOf = (file: string) =>
  RENDERER.includes(file)
    ? createRequire(import.meta.url).resolve(`swagger-ui-dist/${basename(file)}`)
    : join(root, file);
