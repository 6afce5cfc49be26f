// Before the fault table, which kills its engine's process in most rows: compiles what that loads.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../../scripts/project.mjs";
import { COMPILED } from "./compiled.ts";

export default (): void => {
  const engine = join(root, "test", "harness", "small-engine", "process.ts");
  // Without a command it ends.
  execFileSync(process.execPath, [engine, "{}"], {
    input: "",
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
};
