// Compiles what is published to dist/, a complete package: `npm pack ./dist` makes the tarball.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { distPackage, type PackageJson, targetsOf } from "./dist-package.ts";
import { binFolder, root } from "./project.mjs";

const dist = join(root, "dist");
const folders = ["schema", "provider", "server", "access", "cli"];
const documents = ["README.md", "LICENSE", "CHANGELOG.md"];

await rm(dist, { recursive: true, force: true });
compile();
await copyAssets();
await copyRenderer();
await copyDocuments();
const manifest = await writeManifest();
await checkBins(manifest);
console.log(`built ${manifest.name} ${manifest.version} in ${relative(process.cwd(), dist) || "."}`);

function compile(): void {
  const project = join(root, "scripts", "build.tsconfig.json");
  const { status } = spawnSync(join(binFolder, "tsc"), ["--project", project], { stdio: "inherit" });
  if (status !== 0) fail("tsc reported the errors above; nothing was built. `npm run check` shows them too.");
}

/** Everything in the compiled folders that tsc does not turn into JavaScript: SQL, .proto, JSON. */
async function copyAssets(): Promise<void> {
  for (const folder of folders.filter((name) => existsSync(join(root, name)))) {
    for await (const entry of glob(`${folder}/**/*`, { cwd: root, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.endsWith(".ts")) continue;
      const file = relative(root, join(entry.parentPath, entry.name));
      await mkdir(dirname(join(dist, file)), { recursive: true });
      await copyFile(join(root, file), join(dist, file));
    }
  }
}

/** The documentation on the server's page at `/` (server/pages/home.ts). */
async function copyRenderer(): Promise<void> {
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt"])
    await copyFile(join(folder, name), join(dist, "server", "pages", "assets", name));
}

async function copyDocuments(): Promise<void> {
  for (const name of documents.filter((each) => existsSync(join(root, each)))) {
    await copyFile(join(root, name), join(dist, name));
  }
}

async function writeManifest(): Promise<PackageJson> {
  const manifest = distPackage(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
  await writeFile(join(dist, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const missing = targetsOf(manifest).filter((target) => !existsSync(join(dist, target)));
  if (missing.length > 0) {
    fail(
      `package.json names files in "exports" or "bin" that have no source: ${missing.join(", ")}. Correct it there.`,
    );
  }
  return manifest;
}

async function checkBins(manifest: PackageJson): Promise<void> {
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
