// Before the fault table, which kills its engine's process in many rows: makes one module of that process, and compiles it. It loads in
// half of the time that its 200 modules need.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "../../scripts/project.mjs";
import { COMPILED } from "./compiled.ts";

export default async (): Promise<void> => {
  const file = join(COMPILED, "small-engine.mjs");
  const bundle = await rolldown({
    input: join(root, "test", "harness", "small-engine", "process.ts"),
    platform: "node",
  });
  await bundle.write({ file, codeSplitting: false });
  // Without a command it ends.
  execFileSync(process.execPath, [file, "{}"], { input: "", env: { ...process.env, NODE_COMPILE_CACHE: COMPILED } });
  process.env.IRM_TEST_SMALL_ENGINE = file;
};
