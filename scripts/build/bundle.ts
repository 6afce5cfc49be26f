// One file of a module and all that it imports: it loads in a third of the time, and its compiled code is one entry of the cache.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { root } from "../base/project.mjs";

/** Writes a module with all that it imports to `file`. Returns the paths of the modules in it. */
export async function bundle(input: string, file: string, version: string): Promise<string[]> {
  const problems: string[] = [];
  const build = await rolldown({
    input,
    platform: "node",
    plugins: [onlyVersion(version), onlyDispatchers, bundledRequire],
    onLog: (level, { message }) => void (level === "warn" && problems.push(message)),
  });
  // Names are kept: the stack of an error is read by people.
  const { output } = await build.write({
    file,
    format: "esm",
    codeSplitting: false,
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
  });
  await build.close();
  const [chunk] = output;
  const required = [...chunk.code.matchAll(/\b_*require[\w$]*\(["'`]([^"'`]+)["'`]\)/g)].map(([, name = ""]) => name);
  const missing = [...chunk.imports, ...required].filter((name) => !isBuiltin(name));
  problems.push(...missing.map((name) => `${name} is not in it`));
  if (problems.length > 0) throw new TypeError(`${file}: ${problems.join("\n  - ")}`);
  return chunk.moduleIds;
}

/** Reads only the version of package.json. */
const onlyVersion = (version: string): Plugin => ({
  name: "only-version",
  transform: (_, id) =>
    id === join(root, "package.json") ? { code: JSON.stringify({ version }), moduleType: "json" } : undefined,
});

/** Bundles the two dispatchers that the client takes of undici: its fetch, web sockets, mocks and caches are two thirds of its code. */
const onlyDispatchers: Plugin = {
  name: "only-dispatchers",
  load: (id) =>
    id === createRequire(import.meta.url).resolve("undici")
      ? `exports.Agent = require("./lib/dispatcher/agent.js");
exports.EnvHttpProxyAgent = require("./lib/dispatcher/env-http-proxy-agent.js");`
      : undefined,
};

/** What our modules load with a `require` of their own is bundled too: there may be no packages beside it. */
const bundledRequire: Plugin = {
  name: "bundled-require",
  transform: (code, id) =>
    !id.includes("node_modules") && code.includes(OWN_REQUIRE) ? code.replace(OWN_REQUIRE, "") : undefined,
};
const OWN_REQUIRE = "const require = createRequire(import.meta.url);";

/** The licences of the packages in the bundle ask for their text. */
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
