// Before the tests that run an engine, which kills the provider's process once it is done: makes one module of what that process loads,
// as in the published package, and compiles what each run loads.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/base/project.mjs";
import { bundle } from "../../scripts/build/bundle.ts";
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

/** A package with the entries of the clone, except for that module. Returns its folder. */
const writePackage = async (): Promise<string> => {
  const folder = join(COMPILED, "package");
  mkdirSync(folder, { recursive: true });
  const { name, version, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.entries<string>(exports).filter(([, source]) => source.endsWith(".ts"));
  const files = entries.map(([entry, source]) => {
    const file = `./${entry === "." ? "index" : entry.slice(2)}.mjs`;
    if (entry !== "./dynamic")
      writeFileSync(join(folder, file), `export * from ${JSON.stringify(join(root, source))};\n`);
    return [entry, file];
  });
  await bundle(join(root, exports["./dynamic"]), join(folder, "dynamic.mjs"), version);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, exports: Object.fromEntries(files) }));
  return folder;
};
