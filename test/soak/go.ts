// Programs in Go: compiles our module for Go, and runs the lifecycle tests of programs in Go, which `npm test` leaves out.
import { join } from "node:path";
import { root } from "../../scripts/base/project.mjs";
import { GO_SDK } from "../../scripts/generate/sdk-schema.ts";
import { runGo } from "../../scripts/setup/go-build.mjs";
import type { PartOptions, PartResult } from "./part.ts";
import { runTests } from "./vitest.ts";

const FILES = ["languages", "examples"].map((name) => join("test", "lifecycle", `${name}.test.ts`));

/** Also those after which a stack moves to Go. */
const TESTS = "in Go\\b|^a stack that moves";

export const go = async ({ log = () => {} }: Pick<PartOptions, "log">): Promise<PartResult> => {
  log("compiling the module: minutes with an empty Go cache");
  const packages = (await runGo(join(root, GO_SDK), ["list", "./..."])).trim().split("\n");
  await runGo(join(root, GO_SDK), ["vet", "./..."]);
  const args = ["--project", "lifecycle", ...FILES, "--testNamePattern", TESTS];
  const { passed, failures } = await runTests(args, { IRM_REQUIRE_GO: "1" }, log);
  return { figures: { "packages compiled": packages.length, "tests passed": passed }, failures };
};
