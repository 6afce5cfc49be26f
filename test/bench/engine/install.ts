// What is measured, installed beside the programs: the package as it is published, and a provider that answers at once.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { handlerText } from "../../../provider/program/form.ts";
import { run } from "../../../scripts/base/child.mjs";
import { root } from "../../../scripts/base/project.mjs";
import { ensureEngine } from "../../../scripts/engine/engine.mjs";
import { languagesEdition } from "../../../scripts/engine/version.mjs";

export type Installations = Awaited<ReturnType<typeof install>>;

/**
 * `packages`: folder whose `node_modules` the programs below it find; `plugin`: that of the provider `irm`; `languages`: that of the engine
 * that has the language host of YAML; undefined when the one on the PATH has it.
 */
export type Installation = Installations["ours"];

export const install = async () => {
  await build();
  const folder = mkdtempSync(join(tmpdir(), "irm-bench-"));
  const languages = await ensureEngine(languagesEdition);
  const [ours, floor] = [join(folder, "ours"), join(folder, "floor")];
  const packagePath = writePackages(ours, dependencies());
  cpSync(join(root, "dist"), packagePath, { recursive: true });
  await writeFloor(floor);
  return {
    ours: { packages: ours, plugin: join(packagePath, "plugin"), languages, callsApi: true },
    floor: { packages: floor, plugin: join(floor, "plugin"), languages, callsApi: false },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

const build = async (): Promise<void> => {
  const script = join(root, "scripts", "build.ts");
  const { code } = await run(process.execPath, [script], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (code !== 0) throw new Error("the package cannot be built; `npm run build` says why");
};

const dependencies = (): string[] =>
  Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies);

/** Links to the packages of this clone. Returns the path for ours. */
const writePackages = (folder: string, names: readonly string[]): string => {
  const modules = join(folder, "node_modules");
  for (const name of ["@pulumi/pulumi", ...names]) {
    mkdirSync(join(modules, name, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  return join(modules, "pulumi-irm");
};

const KINDS = [
  ["Group", "group"],
  ["Identity", "identity"],
  ["RoleBinding", "roleBinding"],
  ["RoleBindingSet", "roleBindingSet"],
] as const;

/** The same names and the same files, so that program and state are the same to the letter. */
const writeFloor = async (folder: string): Promise<void> => {
  const packagePath = writePackages(folder, []);
  mkdirSync(packagePath, { recursive: true });
  const exports = { ".": "./index.js", "./plugin": "./native.js", "./dynamic": "./dynamic.js" };
  writeFileSync(join(packagePath, "package.json"), JSON.stringify({ name: "pulumi-irm", type: "module", exports }));
  for (const [name, isDynamic] of Object.entries({ index: true, native: false }))
    writeFileSync(join(packagePath, `${name}.js`), classesText(isDynamic));
  for (const name of ["classes", "dynamic", "outputs"])
    writeCompiled(join(root, "test", "bench", "floor", `${name}.ts`), join(packagePath, `${name}.js`));
  const texts = Object.fromEntries(KINDS.map(([type, kind]) => [type, handlerText(kind)]));
  writeFileSync(join(packagePath, "handler-texts.json"), JSON.stringify(texts));
  cpSync(join(root, "dist", "plugin"), join(folder, "plugin"), { recursive: true });
  const build = await rolldown({ input: join(root, "test", "bench", "floor", "plugin.ts"), platform: "node" });
  await build.write({ file: join(folder, "plugin", "main.mjs"), format: "esm", codeSplitting: false });
  await build.close();
};

/** The classes of a form. */
const classesText = (isDynamic: boolean): string =>
  [
    'import { classOf } from "./classes.js";',
    ...KINDS.map(([type]) => `export const ${type} = classOf("${type}", ${isDynamic});`),
  ].join("\n");

const writeCompiled = (from: string, to: string): void => {
  const text = stripTypeScriptTypes(readFileSync(from, "utf8"));
  writeFileSync(to, text.replaceAll(/(?<=from "[.]\/[a-z-]+)[.]ts(?=")/g, ".js"));
};
