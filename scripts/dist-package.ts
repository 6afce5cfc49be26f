// package.json of what is published: the root's without what only a clone needs, its .ts targets as compiled.

export type PackageJson = Record<string, unknown>;

/** Fields that make no sense outside the clone; `files` because all of dist/ is published. */
const omitted = new Set(["private", "scarfSettings", "scripts", "devDependencies", "files"]);

/** The package.json for dist/. Targets that are not TypeScript stay as they are. */
export function distPackage(root: PackageJson): PackageJson {
  const kept = Object.entries(root).filter(([field]) => !omitted.has(field));
  const dist = Object.fromEntries(kept);
  if (root.exports !== undefined) dist.exports = compiledExports(root.exports);
  if (root.bin !== undefined) dist.bin = compiledBin(root.bin);
  return dist;
}

/** Every file that `exports` and `bin` of a dist/package.json name. */
export function targetsOf(dist: PackageJson): string[] {
  const leaves = (value: unknown): string[] => {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
  };
  return [...leaves(dist.exports), ...leaves(dist.bin)];
}

function compiledExports(target: unknown): unknown {
  if (typeof target === "string") {
    // TypeScript takes the first condition that matches, so `types` comes first.
    return isTypeScript(target) ? { types: declaration(target), default: javaScript(target) } : target;
  }
  if (typeof target !== "object" || target === null) return target;
  return Object.fromEntries(Object.entries(target).map(([key, value]) => [key, compiledExports(value)]));
}

function compiledBin(bin: unknown): unknown {
  if (typeof bin === "string") return javaScript(bin);
  if (typeof bin !== "object" || bin === null) return bin;
  return Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, javaScript(String(file))]));
}

function isTypeScript(file: string): boolean {
  return file.endsWith(".ts") && !file.endsWith(".d.ts");
}

function javaScript(file: string): string {
  return isTypeScript(file) ? file.replace(/\.ts$/, ".js") : file;
}

function declaration(file: string): string {
  return file.replace(/\.ts$/, ".d.ts");
}
