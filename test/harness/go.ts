// The module of a program in Go that uses our package, as a user has it after the commands of docs/plugin.md.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { GO_MODULE } from "../../plugin/schema/language.ts";
import { GO_SDK } from "../../scripts/generate/sdk-schema.ts";
import { runGo } from "../../scripts/setup/go-build.mjs";
import { root } from "./api-process.ts";

export const writeGoModule = async (folder: string): Promise<void> => {
  writeFileSync(join(folder, "go.mod"), "module access\n\ngo 1.21\n");
  const [required, replaced] = [`-require=${GO_MODULE}@v0.0.0`, `-replace=${GO_MODULE}=${join(root, GO_SDK)}`];
  await runGo(folder, ["mod", "edit", required, replaced]);
  await runGo(folder, ["mod", "tidy"]);
};
