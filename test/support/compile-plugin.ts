// Before the tests of the native plugin, which the engine starts for each of its operations: makes one module of it.
import { chmodSync, copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import type { TestProject } from "vitest/node";
import { root } from "../../scripts/project.mjs";
import { COMPILED } from "./compiled.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** folder of the provider `irm`, for `plugins.providers` in Pulumi.yaml */
    pluginFolder: string;
  }
}

export default async ({ provide }: TestProject): Promise<void> => {
  const folder = join(COMPILED, "plugin");
  const bundle = await rolldown({ input: join(root, "plugin", "main.ts"), platform: "node" });
  await bundle.write({ file: join(folder, "main.mjs"), codeSplitting: false });
  const schema = join(root, "plugin", "generated", "schema.json");
  if (existsSync(schema)) copyFileSync(schema, join(folder, "schema.json"));
  const command = join(folder, "pulumi-resource-irm");
  writeFileSync(command, '#!/bin/sh\nexec node "$(dirname "$0")/main.mjs" "$@"\n');
  chmodSync(command, 0o755);
  provide("pluginFolder", folder);
};
