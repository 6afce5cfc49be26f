// Before the tests that run an engine: compiles what each of its runs loads. A process leaves what it has compiled when it
// exits, and the engine kills the provider's process before that, so each would compile all of the provider again.
import { execFileSync } from "node:child_process";
import { root } from "../../scripts/project.mjs";
import { COMPILED } from "./compiled.ts";

const MODULES = ["@pulumi/pulumi", "pulumi-irm", "pulumi-irm/dynamic", "undici"];

export default (): void => {
  const program = `await Promise.all(${JSON.stringify(MODULES)}.map((name) => import(name))); process.exit();`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
};
