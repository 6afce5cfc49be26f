// Before tests that start many processes of `irm`: makes modules of few files of it, which load in half of the processor time.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type InputOption, type Plugin, rolldown } from "rolldown";
import { root } from "../../scripts/base/project.mjs";
import { COMPILED } from "./compiled.ts";

export default async (): Promise<void> => {
  // For another project of the same run.
  if (process.env.IRM_TEST_COMMANDS !== undefined) return;
  const dir = join(COMPILED, "irm");
  rmSync(dir, { recursive: true, force: true });
  await writeModules([join(root, "cli", "main.ts"), join(root, "test", "harness", "irm-host.ts")], dir, [ownAddress]);
  process.env.IRM_TEST_COMMANDS = dir;
};

/** Writes modules, and what they import but for the SDK, to few files of a folder. */
export const writeModules = async (input: InputOption, dir: string, plugins: Plugin[] = []): Promise<void> => {
  const external = /^(@pulumi\/|pulumi-irm)/;
  const build = await rolldown({ input, platform: "node", external, plugins, onLog: () => undefined });
  await build.write({ dir, entryFileNames: "[name].mjs", chunkFileNames: "part-[name]-[hash].mjs" });
  await build.close();
};

/** Each module keeps the address of its source, where it finds its files. */
const ownAddress: Plugin = {
  name: "own-address",
  transform: (code, id) =>
    id.startsWith(root) && !id.includes("node_modules") && code.includes("import.meta")
      ? code
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
          .replaceAll("import.meta.dirname", JSON.stringify(join(id, "..")))
          .replaceAll("import.meta.filename", JSON.stringify(id))
      : undefined,
};
