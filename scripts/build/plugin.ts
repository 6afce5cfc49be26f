// The plugin for the engine, as a folder that needs Node and nothing else: a bundled module, its parts that load when they are needed, the
// files that start it, its schema.
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../base/project.mjs";
import { bundleInParts, licensesOf } from "./bundle.ts";
import { compileCache, supportedNode } from "./entry.ts";

const EXECUTABLE = "pulumi-resource-irm";
const MODULE = "main.mjs";

/** `range` is `engines.node` of package.json: `>=22.19`. */
export async function writePlugin(
  folder: string,
  { version, range }: { version: string; range: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const modules = await bundleInParts(join(root, "plugin", "main.ts"), join(folder, MODULE), version);
  await copyFile(join(root, "plugin", "generated", "schema.json"), join(folder, "schema.json"));
  await writeFile(join(folder, "LICENSE-third-party.txt"), await licensesOf(modules));
  await writeFile(join(folder, "supported-node.js"), supportedNode("pulumi-irm", range));
  await writeFile(join(folder, "compile-cache.js"), compileCache());
  await writeFile(join(folder, "start.js"), startText());
  await writeFile(join(folder, `${EXECUTABLE}.cmd`), cmdText());
  await writeFile(join(folder, EXECUTABLE), shellText(range));
  await chmod(join(folder, EXECUTABLE), 0o755);
}

/** CommonJS that any Node can read. Its only line on stderr is what the engine shows. */
const startText = (): string => `"use strict";
try {
  require("./supported-node.js");
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
require("./compile-cache.js");
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
