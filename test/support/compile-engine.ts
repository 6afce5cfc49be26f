// Before the tests that run an engine, which kills the provider's process once it is done: compiles what each of its runs loads.
import { execFileSync } from "node:child_process";
import { root } from "../../scripts/base/project.mjs";
import { ENGINE_NODE } from "./compiled.ts";

const MODULES = ["@pulumi/pulumi", "pulumi-irm", "pulumi-irm/dynamic", "undici"];

export default (): void => {
  const program = `await Promise.all(${JSON.stringify(MODULES)}.map((name) => import(name))); process.exit();`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    env: { ...process.env, ...ENGINE_NODE },
  });
};
