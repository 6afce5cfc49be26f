// Before the fault tables and the random runs: the small engine and its plugin in one file each, which load in half of the time.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "../../scripts/base/project.mjs";
import { ADAPTERS } from "../harness/small-engine/provider.ts";
import { COMPILED } from "./compiled.ts";

const folder = join(root, "test", "harness", "small-engine");

export default async (): Promise<void> => {
  // For another project of the same run.
  if (process.env.IRM_TEST_SMALL_PLUGIN !== undefined) return;
  const dir = join(COMPILED, "small-engine");
  const bundle = await rolldown({
    input: { engine: join(folder, "process.ts"), plugin: join(folder, "plugin-process.ts") },
    platform: "node",
  });
  await bundle.write({ dir, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED };
  const run = (file: string, argument: string) =>
    execFileSync(process.execPath, [join(dir, file), argument], { input: "", env });
  // Without a command the engine ends, and without an engine the plugin.
  for (const adapter of ADAPTERS) run("engine.mjs", JSON.stringify({ adapter }));
  run("plugin.mjs", "127.0.0.1:9");
  process.env.IRM_TEST_SMALL_ENGINE = join(dir, "engine.mjs");
  process.env.IRM_TEST_SMALL_PLUGIN = join(dir, "plugin.mjs");
};
