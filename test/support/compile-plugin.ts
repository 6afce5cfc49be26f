// Before the tests of the native plugin, which the engine starts for each of its operations: makes its folder, as it is published.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { root } from "../../scripts/base/project.mjs";
import { writePlugin } from "../../scripts/build/plugin.ts";
import { COMPILED } from "./compiled.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** folder of the provider `irm`, for `plugins.providers` in Pulumi.yaml */
    pluginFolder: string;
  }
}

export default async ({ provide }: TestProject): Promise<void> => {
  const folder = join(COMPILED, "plugin");
  const { version, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  await writePlugin(folder, { version, range: engines.node });
  provide("pluginFolder", folder);
};
