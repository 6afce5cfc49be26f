// Programs in Go: compiles our module for Go, and runs the lifecycle tests of programs in Go, which `npm test` leaves out.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "../../scripts/base/child.mjs";
import { root } from "../../scripts/base/project.mjs";
import { GO_SDK } from "../../scripts/generate/schema-hash.ts";
import { runGo } from "../../scripts/setup/go-build.mjs";
import type { PartOptions, PartResult } from "./part.ts";

const FILES = ["languages", "language-move", "examples"].map((name) => join("test", "lifecycle", `${name}.test.ts`));

/** Also those after which a stack moves to Go. */
const TESTS = "in Go\\b|^a stack of a TypeScript program";

interface Report {
  testResults: {
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

export const go = async ({ log = () => {} }: Pick<PartOptions, "log">): Promise<PartResult> => {
  log("compiling the module: minutes with an empty Go cache");
  const packages = (await runGo(join(root, GO_SDK), ["list", "./..."])).trim().split("\n");
  await runGo(join(root, GO_SDK), ["vet", "./..."]);

  const folder = mkdtempSync(join(tmpdir(), "irm-soak-go-"));
  try {
    const report = join(folder, "report.json");
    const run = ["--project", "lifecycle", ...FILES, "--testNamePattern", TESTS];
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const args = [join(root, "scripts", "with-setup.mjs"), "--engine", "vitest", "run", ...run, ...reporters];
    const env = { ...process.env, IRM_REQUIRE_GO: "1", NO_COLOR: "1" };
    const { code, output } = await capture(process.execPath, args, { cwd: root, env, onOutput: log });
    return resultFrom(packages.length, code, output, JSON.parse(readFileSync(report, "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const resultFrom = (packages: number, code: number | null, output: string, { testResults }: Report): PartResult => {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === "passed");
  const failed = tests.filter(({ status }) => status === "failed");
  const failures = [
    ...testResults.flatMap(({ message }) => (message === "" ? [] : [message])),
    ...failed.map(({ fullName, failureMessages: [message = ""] }) => `${fullName}: ${message}`),
  ];
  if (failures.length === 0 && (code !== 0 || passed.length === 0)) failures.push(output);
  return { figures: { "packages compiled": packages, "tests passed": passed.length }, failures };
};
