// One file of a module and all its imports. It loads in a third of the time, and its compiled code is one entry of the cache.
import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { basename, dirname, extname, join, posix, relative, sep } from "node:path";
import { type OutputOptions, type Plugin, rolldown } from "rolldown";
import { root } from "../base/project.mjs";

/** Writes a module with all that it imports to `file`. Returns the paths of the modules in it. */
export const bundle = (input: string, file: string, version: string): Promise<string[]> =>
  write(input, file, version, { file, codeSplitting: false });

/** Puts packages into the compiled module that alone imports them. Returns the paths of the modules in it. */
export async function embedPackages(file: string, packages: readonly string[]): Promise<string[]> {
  const isOfPackage = (path = "") => path.includes("node_modules");
  const build = await rolldown({
    input: file,
    platform: "node",
    external: (id, importer) => ![file, ...packages].includes(id) && !isOfPackage(id) && !isOfPackage(importer),
  });
  const { output } = await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : [])).filter((id) => id !== file);
}

/**
 * Writes a module with all that it imports to `file`, as CommonJS: the executable has no code cache for an ES module. The executable contains
 * the files that its modules read. `files`: their paths in the clone.
 */
export async function bundleExecutable(input: string, file: string, version: string) {
  const files = new Set<string>();
  const output = { file, codeSplitting: false, format: "cjs" } as const;
  const modules = await write(input, file, version, output, embeddedFiles(files));
  return { modules, files: [...files].toSorted() };
}

/** Writes a module and its static imports to `file`, and its later imports to files beside that. */
export const bundleInParts = (input: string, file: string, version: string): Promise<string[]> =>
  write(input, file, version, {
    dir: dirname(file),
    entryFileNames: basename(file),
    chunkFileNames: `[name]${extname(file)}`,
    codeSplitting: {
      groups: [
        { name: basename(file, extname(file)), tags: ["$initial"], priority: 1 },
        // A process that needs a component needs all of this.
        { name: "component", test: (id) => !id.includes(join("node_modules", "undici")) },
      ],
    },
  });

async function write(
  input: string,
  file: string,
  version: string,
  output: OutputOptions,
  more: Plugin = onlyDispatchers,
): Promise<string[]> {
  const problems: string[] = [];
  const build = await rolldown({
    input,
    platform: "node",
    plugins: [onlyVersion(version), onlyRuntime, bundledRequire, more],
    onLog: (level, { code, message }) =>
      void (level === "warn" && !HARMLESS.includes(code ?? "") && problems.push(message)),
  });
  // Names are kept: the stack of an error is read by people.
  const { output: chunks } = await build.write({
    format: "esm",
    ...output,
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
  });
  await build.close();
  const written = chunks.flatMap((chunk) => (chunk.type === "chunk" ? [chunk] : []));
  const names = written.map(({ fileName }) => fileName);
  const missing = written
    .flatMap(({ code, imports }) => {
      const required = [...code.matchAll(/\b_*require[\w$]*\(["'`]([^"'`]+)["'`]\)/g)].map(([, name = ""]) => name);
      return [...imports, ...required];
    })
    // The text of a dynamic resource's provider requires this package, where it runs.
    .filter((name) => !isBuiltin(name) && !names.includes(name) && !name.startsWith("pulumi-irm/"));
  problems.push(...missing.map((name) => `${name} is not in it`));
  if (problems.length > 0) throw new TypeError(`${file}: ${problems.join("\n  - ")}`);
  return written.flatMap(({ moduleIds }) => moduleIds);
}

const { resolve } = createRequire(import.meta.url);

/** A module that one part imports at once, and another one later. */
const HARMLESS = ["INEFFECTIVE_DYNAMIC_IMPORT"];

/** Reads only the version and the repository of package.json. */
const onlyVersion = (version: string): Plugin => ({
  name: "only-version",
  transform: (code, id) =>
    id === join(root, "package.json")
      ? { code: JSON.stringify({ version, repository: JSON.parse(code).repository }), moduleType: "json" }
      : undefined,
});

/** Lets modules read the files beside them from the executable. Adds their paths in the clone to `files`. Names the command without npx. */
const embeddedFiles = (files: Set<string>): Plugin => ({
  name: "embedded-files",
  resolveId: (id) => (id === EMBEDDED ? id : undefined),
  load: (id) => (id === EMBEDDED ? READ_EMBEDDED : undefined),
  transform: (code, id) => {
    if (id.includes("node_modules") || id === EMBEDDED) return undefined;
    // Its users have no npx.
    const text = code.replaceAll("npx pulumi-", "pulumi-");
    if (!code.includes(READ_FILE)) return text;
    const path = relative(root, id).replaceAll(sep, "/");
    for (const [, name = ""] of code.matchAll(/readFileSync\(new URL\(["`]([^"`]+)["`]/g))
      for (const file of globSync(name.replace(/\$\{\w+\}/, "*"), { cwd: dirname(id) }))
        files.add(posix.join(dirname(path), file));
    const own = text.replaceAll(READ_FILE, "readEmbedded(new URL(").replaceAll("import.meta.url", `"file:///${path}"`);
    return `import { readEmbedded } from "${EMBEDDED}";\n${own}`;
  },
});
const READ_FILE = "readFileSync(new URL(";
const EMBEDDED = "embedded-files";
const READ_EMBEDDED = `import { getAsset } from "node:sea";
export const readEmbedded = ({ pathname }, encoding) => {
  const content = getAsset(pathname.slice(1), encoding);
  return encoding === undefined ? Buffer.from(content) : content;
};`;

/** Bundles the two dispatchers that the client takes of undici: its fetch, web sockets, mocks and caches are two thirds of its code. */
const onlyDispatchers: Plugin = {
  name: "only-dispatchers",
  load: (id) =>
    id === resolve("undici")
      ? `exports.Agent = require("./lib/dispatcher/agent.js");
exports.EnvHttpProxyAgent = require("./lib/dispatcher/env-http-proxy-agent.js");`
      : undefined,
};

/** Bundles only the SDK's runtime, without the Automation API, closures and TypeScript. */
const onlyRuntime: Plugin = {
  name: "only-runtime",
  load: (id) =>
    id === resolve("@pulumi/pulumi")
      ? `for (const part of [require("./config"), require("./errors"), require("./metadata"), require("./output"), require("./resource")])
  for (const name of Object.keys(part)) if (name !== "__esModule") exports[name] = part[name];
exports.log = require("./log");
const { getStackResource } = require("./runtime/state");
exports.runtime = Object.assign({ getStackResource }, require("./runtime/config"), require("./runtime/invoke"), require("./runtime/settings"));`
      : undefined,
};

/** Also bundles the modules that ours load with a `require` of their own: a bundle may have no packages beside it. */
const bundledRequire: Plugin = {
  name: "bundled-require",
  transform: (code, id) =>
    !id.includes("node_modules") && code.includes(OWN_REQUIRE) ? code.replace(OWN_REQUIRE, "") : undefined,
};
const OWN_REQUIRE = "const require = createRequire(import.meta.url);";

/** The texts of the licenses of the packages in the bundle, which require them. */
export async function licensesOf(modules: readonly string[]): Promise<string> {
  const folders = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []);
  const texts = [...new Set(folders)].toSorted().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].find((one) => existsSync(join(folder, one)));
    const text = file === undefined ? "" : `\n\n${(await readFile(join(folder, file), "utf8")).trim()}`;
    return `${name} ${version}: ${license}${text}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}
