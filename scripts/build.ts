// Builds the package in dist/; `npm pack ./dist` makes the tarball. Beside it, release/ has the files for users of other languages.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { compilerArgs, root } from "./base/project.mjs";
import { bundle, embedPackages, licensesOf } from "./build/bundle.ts";
import { writeExecutable } from "./build/executable.ts";
import {
  bundleTypes,
  compileCache,
  compiledPath,
  distPackage,
  type Entry,
  entriesOf,
  entryText,
  type PackageJson,
  SERVER_PACKAGES,
  supportedNode,
  targetsOf,
} from "./build/package.ts";
import { writePlugin } from "./build/plugin.ts";
import { writeGoTarball, writePluginTarball, writeWheel } from "./build/release-files.ts";

interface Source extends PackageJson {
  name: string;
  version: string;
  engines: { node: string };
  repository: object;
}

const dist = join(root, "dist");
const release = join(root, "release");
const declarations = join(dist, "declarations");
const folders = ["schema", "client", "pulumi", "provider", "server", "access", "gate", "ci", "cli"];
const documents = ["{README,CHANGELOG,CONTRIBUTING,SECURITY}.md", "LICENSE", "docs/**/*.md", "docs/**/*.svg"];

for (const folder of [dist, release]) await rm(folder, { recursive: true, force: true });
compile();
await embedServerPackages();
await copyAssets();
await copyRenderer();
await copyDocuments();
const source: Source = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
await writeEntries(source);
const manifest = await writeManifest(source);
await checkBins(manifest);
const released = await writeRelease(source);
const displayPath = (path: string) => relative(process.cwd(), path) || ".";
console.log(`built ${manifest.name} ${manifest.version} in ${displayPath(dist)}`);
for (const file of released) console.log(`built ${displayPath(join(release, file))}`);

function compile() {
  const project = join(root, "scripts", "build", "tsconfig.json");
  const { status } = spawnSync(process.execPath, [...compilerArgs, "--project", project], { stdio: "inherit" });
  if (status !== 0) fail("tsc reported the errors above; nothing was built. `npm run check` shows them too.");
}

async function embedServerPackages() {
  const modules: string[] = [];
  for (const [file, packages] of Object.entries(SERVER_PACKAGES))
    modules.push(...(await embedPackages(join(dist, file), packages)));
  await writeFile(join(dist, "lib", "server", "LICENSE-third-party.txt"), await licensesOf(modules));
}

/** Files of the compiled folders that tsc does not compile: SQL, .proto, JSON. */
async function copyAssets() {
  for (const folder of folders.filter((name) => existsSync(join(root, name)))) {
    for await (const entry of glob(`${folder}/**/*`, { cwd: root, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.endsWith(".ts")) continue;
      const file = relative(root, join(entry.parentPath, entry.name));
      await copy(file, join("lib", file));
    }
  }
}

/** The documentation on the server's page at `/` (server/pages/pages.ts). */
async function copyRenderer() {
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt"])
    await copyFile(join(folder, name), join(dist, "lib", "server", "pages", "assets", name));
}

async function copyDocuments() {
  for await (const file of glob(documents, { cwd: root })) await copy(file, file);
  for await (const file of glob("schema/generated/*.schema.json", { cwd: root })) await copy(file, basename(file));
}

async function copy(from: string, to: string) {
  await mkdir(dirname(join(dist, to)), { recursive: true });
  await copyFile(join(root, from), join(dist, to));
}

/** Writes the entries that programs import at the root. The compiled modules are below lib/. */
async function writeEntries(source: Source) {
  const { name, version, engines, repository } = source;
  // The compiled modules read version and repository as the sources do.
  const manifest = JSON.stringify({ type: "module", version, repository }, undefined, 2);
  await writeFile(join(dist, "lib", "package.json"), `${manifest}\n`);
  await writeFile(join(dist, "supported-node.js"), supportedNode(name, engines.node));
  await writeFile(join(dist, "compile-cache.js"), compileCache());
  const entries = entriesOf(source);
  for (const entry of entries) {
    const module = compiledPath(entry.source);
    const names = Object.keys(await import(pathToFileURL(join(dist, module)).href));
    const bundled = entry.name === "dynamic" ? await bundleEntry(entry, version) : undefined;
    await writeFile(
      join(dist, `${entry.name}.js`),
      entryText(bundled ?? module, names, { isCached: bundled !== undefined }),
    );
  }
  await bundleTypes(entries, declarations, dist).catch((error: Error) => fail(error.message));
  await rm(declarations, { recursive: true });
}

/** A process that loads only this entry, such as the dynamic provider's, loads one file. */
async function bundleEntry({ name, source }: Entry, version: string) {
  const file = `lib/${name}.js`;
  const modules = await bundle(join(root, source), join(dist, file), version).catch((error: Error) =>
    fail(error.message),
  );
  await writeFile(join(dist, "lib", `${name}.LICENSE.txt`), await licensesOf(modules));
  return file;
}

/** Returns the names of the files. */
async function writeRelease({ version, engines }: Source): Promise<string[]> {
  const plugin = join(dist, "plugin");
  await writePlugin(plugin, { version, range: engines.node }).catch((error: Error) => fail(error.message));
  await mkdir(release);
  return [
    await writePluginTarball(plugin, version, release),
    await writeWheel(release),
    await writeGoTarball(version, release),
    ...(await writeExecutable(release, version)),
  ];
}

async function writeManifest(source: PackageJson): Promise<PackageJson> {
  const manifest = distPackage(source);
  await writeFile(join(dist, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const missing = targetsOf(manifest).filter((target) => !existsSync(join(dist, target)));
  if (missing.length > 0) {
    fail(
      `package.json names files in "exports" or "bin" that have no source: ${missing.join(", ")}. Correct it there.`,
    );
  }
  return manifest;
}

async function checkBins(manifest: PackageJson) {
  for (const file of targetsOf({ bin: manifest.bin })) {
    const text = await readFile(join(dist, file), "utf8");
    if (!text.startsWith("#!/usr/bin/env node\n")) {
      fail(`the source of ${file} must begin with the line "#!/usr/bin/env node": it is named in "bin".`);
    }
    await chmod(join(dist, file), 0o755);
  }
}

function fail(message: string): never {
  console.error(`build: ${message}`);
  process.exit(1);
}
