// The package.json of the package: the root's, without the fields for the clone, with the built targets.
import { basename } from "node:path";

export type PackageJson = Record<string, unknown>;

/** Fields for the clone only. */
const omitted = new Set(["private", "scarfSettings", "scripts", "devDependencies", "type"]);
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
