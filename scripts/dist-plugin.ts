// The plugin for the engine, as a folder that needs Node and nothing else: one bundled module, the files that start it, its schema.
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { supportedNode } from "./dist-entry.ts";
import { root } from "./project.mjs";

const EXECUTABLE = "pulumi-resource-irm";
const MODULE = "main.mjs";

/** `range` is `engines.node` of package.json: `>=22.19`. */
export async function writePlugin(
  folder: string,
  { version, range }: { version: string; range: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const modules = await bundle(join(folder, MODULE), version);
  await copyFile(join(root, "plugin", "generated", "schema.json"), join(folder, "schema.json"));
  await writeFile(join(folder, "LICENSE-third-party.txt"), await licensesOf(modules));
  await writeFile(join(folder, "supported-node.js"), supportedNode("pulumi-irm", range));
  await writeFile(join(folder, "start.js"), startText());
  await writeFile(join(folder, `${EXECUTABLE}.cmd`), cmdText());
  await writeFile(join(folder, EXECUTABLE), shellText(range));
  await chmod(join(folder, EXECUTABLE), 0o755);
}

/** Returns the paths of the modules in it. */
async function bundle(file: string, version: string): Promise<string[]> {
  const problems: string[] = [];
  const build = await rolldown({
    input: join(root, "plugin", "main.ts"),
    platform: "node",
    plugins: [onlyVersion(version), bundledRequire],
    onLog: (level, { message }) => void (level === "warn" && problems.push(message)),
  });
  // Names are kept: the stack of an error is read by people.
  const { output } = await build.write({
    file,
    format: "esm",
    codeSplitting: false,
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
  });
  await build.close();
  const [chunk] = output;
  const required = [...chunk.code.matchAll(/\b_*require[\w$]*\(["'`]([^"'`]+)["'`]\)/g)].map(([, name = ""]) => name);
  const missing = [...chunk.imports, ...required].filter((name) => !isBuiltin(name));
  problems.push(...missing.map((name) => `${name} is not in it`));
  if (problems.length > 0) throw new TypeError(`the bundle of the plugin: ${problems.join("\n  - ")}`);
  return chunk.moduleIds;
}

/** Of package.json, the plugin reads the version alone. */
const onlyVersion = (version: string): Plugin => ({
  name: "only-version",
  transform: (_, id) =>
    id === join(root, "package.json") ? { code: JSON.stringify({ version }), moduleType: "json" } : undefined,
});

/** What our modules load with a `require` of their own is bundled too: the folder of the plugin may have no packages beside it. */
const bundledRequire: Plugin = {
  name: "bundled-require",
  transform: (code, id) =>
    !id.includes("node_modules") && code.includes(OWN_REQUIRE) ? code.replace(OWN_REQUIRE, "") : undefined,
};
const OWN_REQUIRE = "const require = createRequire(import.meta.url);";

/** The licences of the packages in the bundle ask for their text. */
async function licensesOf(modules: readonly string[]): Promise<string> {
  const folders = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []);
  const texts = [...new Set(folders)].toSorted().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].find((one) => existsSync(join(folder, one)));
    const text = file === undefined ? "" : `\n\n${(await readFile(join(folder, file), "utf8")).trim()}`;
    return `${name} ${version}: ${license}${text}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}

/** CommonJS that any Node can read. Its only line on stderr is what the engine shows. */
const startText = (): string => `"use strict";
try {
  require("./supported-node.js");
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
import("./${MODULE}").catch(function (error) {
  console.error(error);
  process.exit(1);
});
`;

/** Replaces itself by Node, so that the engine's signals and the end of its stdin arrive there. npm may have made a link to it. */
const shellText = (range: string): string => `#!/bin/sh
self=$0
while [ -h "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=$(dirname "$self")/$target ;;
  esac
done
if ! command -v node >/dev/null; then
  echo "${EXECUTABLE}: there is no \\"node\\" on the PATH; install Node ${range.replace(">=", "")} or later" >&2
  exit 1
fi
exec node "$(dirname "$self")/start.js" "$@"
`;

const cmdText = (): string => '@echo off\r\nnode "%~dp0start.js" %*\r\n';
