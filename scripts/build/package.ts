// The package.json of the package: the root's, without the fields for the clone, with the built targets.

import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

export type PackageJson = Record<string, unknown>;

/** Fields for the clone only. */
const omitted = new Set(["private", "pluginDownloadURL", "scarfSettings", "scripts", "devDependencies", "type"]);
/** Packages that only the server needs, by the compiled module that imports them and contains them. An install does not bring them. */
export const SERVER_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "lib/server/base/metrics.js": ["prom-client"],
  "lib/server/services/readme.js": ["markdown-it", "htmlparser2"],
};

/** Files that scripts/build.ts writes. */
const files = ["*.js", "*.d.ts", "*.md", "*.schema.json", "docs", "lib", "plugin"];

/** An export of the package: a CommonJS file at its root, which loads the compiled module. */
export interface Entry {
  /** file name without extension: `index`, `server` */
  name: string;
  /** as `exports` of the root's package.json has it: `./server/index.ts` */
  source: string;
}

/** The exports that are TypeScript. */
export function entriesOf(root: PackageJson): Entry[] {
  return Object.entries(root.exports as Record<string, string>)
    .filter(([, target]) => target.endsWith(".ts"))
    .map(([path, source]) => ({ name: entryName(path), source }));
}

/**
 * The package.json for dist/. Every export is one CommonJS file, which import and require() share, so that no program holds
 * two copies of a module. Its name is the last part of the import path: tools that ignore `exports`
 * (TypeScript's moduleResolution "node") find it too.
 */
export function distPackage(root: PackageJson): PackageJson {
  const kept = Object.entries(root).filter(([field]) => !omitted.has(field));
  const entries = Object.entries((root.exports ?? {}) as Record<string, string>).map(([path, target]) => {
    const name = entryName(path);
    // An editor finds a schema by its path in the package, so it stands at the root.
    if (target.endsWith(".schema.json")) return [path, `./${basename(target)}`];
    // TypeScript takes the first condition that matches, so `types` comes first.
    return [path, target.endsWith(".ts") ? { types: `./${name}.d.ts`, default: `./${name}.js` } : target];
  });
  const embedded = new Set(Object.values(SERVER_PACKAGES).flat());
  const dependencies = Object.entries((root.dependencies ?? {}) as Record<string, string>);
  const bin = Object.entries((root.bin ?? {}) as Record<string, string>).map(([name, file]) => [
    name,
    compiledPath(file),
  ]);
  return {
    ...Object.fromEntries(kept),
    type: "commonjs",
    main: "./index.js",
    types: "./index.d.ts",
    exports: Object.fromEntries(entries),
    dependencies: Object.fromEntries(dependencies.filter(([name]) => !embedded.has(name))),
    bin: Object.fromEntries(bin),
    files,
  };
}

/** Every file that a dist/package.json names. */
export function targetsOf({ main, types, exports, bin }: PackageJson): string[] {
  const leaves = (value: unknown): string[] => {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
  };
  return [...new Set([main, types, exports, bin].flatMap(leaves))];
}

/** The path of `./server/index.ts` in dist/: an ES module below lib/. */
export function compiledPath(source: string): string {
  return source.replace(/^\.\//, "lib/").replace(/\.ts$/, ".js");
}

function entryName(path: string): string {
  return path === "." ? "index" : path.replace(/^\.\//, "");
}

// The files at the root of the package, as text: CommonJS that any Node can read, so that an old Node gets a clear message.

/** `range` is `engines.node` of package.json: `>=22.19`. */
export function supportedNode(name: string, range: string): string {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(range) ?? [];
  if (major === undefined || minor === undefined)
    throw new TypeError(`engines.node must be ">=MAJOR.MINOR", not ${range}`);
  return `"use strict";
// An older Node cannot load the modules of this package. People read this error, so its stack is the message alone: the
// Pulumi SDK prints the message of a RunError. In a provider process it prints the error with its stack.
var version = process.versions.node.split(".");
if (version[0] < ${major} || (version[0] == ${major} && version[1] < ${minor})) {
  var error = new Error("${name}: Node " + process.versions.node + " is too old; Node ${major}.${minor} or later is required");
  error.stack = error.message;
  Object.defineProperty(error, "__pulumiRunError", { value: true });
  Object.defineProperty(error, "toString", {
    value: function () {
      return error.name;
    },
  });
  throw error;
}
`;
}

/**
 * Node keeps the compiled code of the modules that load from here on (https://nodejs.org/api/module.html#module-compile-cache). Another
 * user could create its default folder for temporary files, and so choose the code that runs here. So the folder is one of this user.
 */
export function compileCache(): string {
  return `"use strict";
var fs = require("node:fs");
var os = require("node:os");
var path = require("node:path");
var node = require("node:module");
try {
  var base = process.platform === "win32" ? process.env.LOCALAPPDATA : process.env.XDG_CACHE_HOME;
  var folder = path.join(base && path.isAbsolute(base) ? base : path.join(os.homedir(), ".cache"), "pulumi-irm", "compiled");
  fs.mkdirSync(folder, { recursive: true, mode: 448 });
  // Of this user, and not writable by others.
  var isOwn = function (part) {
    var found = fs.lstatSync(part);
    return found.isDirectory() && (!process.getuid || (found.uid === process.getuid() && (found.mode & 18) === 0));
  };
  if (isOwn(path.dirname(folder)) && isOwn(folder)) {
    node.enableCompileCache(folder);
    // The engine may end this process without asking it.
    setTimeout(node.flushCompileCache, 2000).unref();
  }
} catch (error) {
  // Without a folder, each process compiles.
}
`;
}

/** Lists each name, because Node reads the names of a CommonJS module from its text. */
export function entryText(module: string, names: readonly string[], { isCached = false } = {}): string {
  return `"use strict";
require("./supported-node.js");
${isCached ? 'require("./compile-cache.js");\n' : ""}var module_ = require("./${module}");
${names.map((name) => `exports.${name} = module_.${name};`).join("\n")}
`;
}

// The types of each export, bundled into one file. A program compiles them under any module resolution, and needs no types
// but the Pulumi SDK's: a project may have none of Node.

/** Packages that the published types may name. */
const NAMED = /^@pulumi\/pulumi$/;

/** Reads the files of tsc in `declarations`, and writes one file per entry to `dist`. */
export async function bundleTypes(entries: readonly Entry[], declarations: string, dist: string): Promise<void> {
  const comments = new Map<string, string>();
  for (const { name, source } of entries) {
    const file = join(dist, `${name}.d.ts`);
    const bundle = await rollup({
      input: join(declarations, source.replace(/\.ts$/, ".d.ts")),
      external: (id) => !/^[./]/.test(id),
      plugins: [dts()],
    });
    const { output } = await bundle.write({ file, format: "es" });
    await bundle.close();
    const others = output[0].imports.filter((imported) => !NAMED.test(imported));
    if (others.length > 0)
      throw new TypeError(
        `the types of ${source} reach ${others.join(", ")}, whose types a program would have to compile: declare them plainly`,
      );
    await writeFile(file, withComments(await readFile(file, "utf8"), comments));
  }
}

const FUNCTION = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(declare (?:const|function) (\w+)\b)/g;

/** A function without a doc comment takes it from its namesake in an earlier export: pulumi-irm/plugin repeats none. */
function withComments(text: string, comments: Map<string, string>) {
  return text.replace(FUNCTION, (all: string, comment: string | undefined, declared: string, name: string) => {
    if (comment === undefined) return (comments.get(name) ?? "") + declared;
    if (!comments.has(name)) comments.set(name, comment);
    return all;
  });
}
