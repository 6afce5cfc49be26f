// Tests that `npm test` leaves out, as a part of the long proofs.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "../../scripts/base/child.mjs";
import { root } from "../../scripts/base/project.mjs";

interface Report {
  testResults: {
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

interface Tested {
  passed: number;
  failures: string[];
}

/** `args` choose the tests, and `env` says that they are not left out. */
export const runTests = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  log: (text: string) => void,
): Promise<Tested> => {
  const folder = mkdtempSync(join(tmpdir(), "irm-soak-tests-"));
  try {
    const report = join(folder, "report.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const command = [join(root, "scripts", "with-setup.mjs"), "--engine", "vitest", "run", ...args, ...reporters];
    const { code, output } = await capture(process.execPath, command, {
      cwd: root,
      env: { ...process.env, ...env, NO_COLOR: "1" },
      onOutput: log,
    });
    return resultFrom(code, output, JSON.parse(readFileSync(report, "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const resultFrom = (code: number | null, output: string, { testResults }: Report): Tested => {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === "passed").length;
  const failed = tests.filter(({ status }) => status === "failed");
  const failures = [
    ...testResults.flatMap(({ message }) => (message === "" ? [] : [message])),
    ...failed.map(({ fullName, failureMessages: [message = ""] }) => `${fullName}: ${message}`),
  ];
  if (failures.length === 0 && (code !== 0 || passed === 0)) failures.push(output);
  return { passed, failures };
};
