// Builds what a release publishes, and lists it: everything that needs no account. The workflow of a tag publishes it
// (.github/workflows/release.yml).
//
//   npm run release -- --dry-run [--json]
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./base/project.mjs";
import { writePlatformFiles } from "./build/release-files.ts";

const { values } = parseArgs({ options: { "dry-run": { type: "boolean" }, json: { type: "boolean" } } });
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const release = join(root, "release");

if (values["dry-run"] !== true) {
  console.error(
    `release: give --dry-run. The workflow of the tag v${version} publishes: docs/internals/release.md has the steps.`,
  );
  process.exit(2);
}
const problems = await versionProblems();
if (problems.length > 0) {
  for (const problem of problems) console.error(`release: ${problem}`);
  process.exit(1);
}
execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { stdio: ["ignore", 2, 2] });
execFileSync("npm", ["pack", "./dist", "--silent", "--pack-destination", release], {
  cwd: root,
  stdio: ["ignore", 2, 2],
});
for (const entry of await readdir(release, { withFileTypes: true }))
  if (entry.isDirectory()) await writePlatformFiles(entry.name, version, release);

const files = (await readdir(release, { withFileTypes: true })).filter((entry) => entry.isFile());
const artifacts = await Promise.all(
  files.map(async ({ name }) => {
    const bytes = await readFile(join(release, name));
    return { name, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  }),
);
artifacts.sort((a, b) => (a.name < b.name ? -1 : 1));
await writeFile(join(release, "SHA256SUMS"), artifacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""));
if (values.json === true) console.log(JSON.stringify({ artifacts }));
else for (const { name, bytes, sha256 } of artifacts) console.log(`${sha256}  ${String(bytes).padStart(10)}  ${name}`);

/** Every place that names the version. */
async function versionProblems(): Promise<string[]> {
  const places: readonly [file: string, pattern: RegExp][] = [
    ["CHANGELOG.md", /^## (\S+)/m],
    ["plugin/generated/schema.json", /^ {2}"version": "(.*)"/m],
    ["sdk/python/pyproject.toml", /^ {2}version = "(.*)"/m],
    ["sdk/go/irm/pulumi-plugin.json", /"version": "(.*)"/],
  ];
  const found = places.map(async ([file, pattern]) => {
    const [, own = "no version"] = pattern.exec(await readFile(join(root, file), "utf8")) ?? [];
    return own === version
      ? []
      : [`${file} has ${own}, and package.json ${version}: npm run generate:sdks, or edit it`];
  });
  return (await Promise.all(found)).flat();
}
