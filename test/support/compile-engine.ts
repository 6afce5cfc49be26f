// Before the tests that run an engine, which kills the provider's process once it is done: makes one module of what that process loads,
// as in the published package, and compiles what each run loads.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/base/project.mjs";
import { bundle } from "../../scripts/build/bundle.ts";
import { writeModules } from "./compile-command.ts";
import { COMPILED, ENGINE_NODE } from "./compiled.ts";

const MODULES = ["@pulumi/pulumi", "pulumi-irm", "undici"];

export default async (): Promise<void> => {
  const folder = await writePackage();
  const modules = [...MODULES, join(folder, "dynamic.mjs")];
  const program = `await Promise.all(${JSON.stringify(modules)}.map((name) => import(name))); process.exit();`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    env: { ...process.env, ...ENGINE_NODE },
  });
  process.env.IRM_TEST_PACKAGE = folder;
};

/** A package with the entries of the clone, in modules of few files. Returns its folder. */
const writePackage = async (): Promise<string> => {
  const folder = join(COMPILED, "package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { name, version, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.entries<string>(exports)
    .filter(([, source]) => source.endsWith(".ts"))
    .map(([entry, source]) => ({ entry, source: join(root, source), file: entry === "." ? "index" : entry.slice(2) }));
  const sourceOf = (own: string) => entries.find(({ entry }) => entry === own)?.source as string;
  await bundle(sourceOf("./dynamic"), join(folder, "dynamic.mjs"), version);
  // It reads files beside its modules.
  writeFileSync(join(folder, "server.mjs"), `export * from ${JSON.stringify(sourceOf("./server"))};\n`);
  const others = entries.filter(({ file }) => !["dynamic", "server"].includes(file));
  await writeModules(Object.fromEntries(others.map(({ file, source }) => [file, source])), folder);
  const files = Object.fromEntries(entries.map(({ entry, file }) => [entry, `./${file}.mjs`]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, exports: files }));
  return folder;
};
