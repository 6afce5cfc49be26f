// Adds up the reports of `npm run check` and `npm test` for .ci/run. Plain JavaScript: it must run when npm ci failed.
//
//   node scripts/test-total.mjs CHECK_FOLDER CHECK_EXIT TEST_FOLDER TEST_EXIT
//
// Prints the failures, then `N passed, N failed` as the last line. Exits with 1 if a test failed or none ran.
import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./base/project.mjs";

/**
 * @typedef {{ fullName: string, status: string }} Assertion
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Assertion[] }} TestFile
 * @typedef {{ command: string, exitCode: number, failedSteps: string[], files?: TestFile[] }} CommandResult
 */

/** The commands run different tests. @param {CommandResult[]} results */
export function total(results) {
  const all = results
    .flatMap(({ files = [] }) => files)
    .flatMap((file) =>
      file.assertionResults.map(({ fullName, status }) => ({ name: `${file.name}: ${fullName}`, status })),
    );
  /** @type {string[]} */
  const problems = [];

  for (const { command, exitCode, failedSteps, files } of results) {
    const before = problems.length;
    // The tests of that step are counted one by one.
    problems.push(...failedSteps.filter((step) => step !== "unit tests").map((step) => `${command}: ${step}`));
    for (const file of files ?? []) {
      if (file.status === "failed" && !file.assertionResults.some(({ status }) => status === "failed")) {
        problems.push(`${command}: ${file.name} could not run: ${file.message?.split("\n", 1)[0] ?? ""}`);
      }
    }
    const explained = files?.some(({ status }) => status === "failed") || problems.length > before;
    if (files === undefined) problems.push(`${command}: it ended before the tests (exit code ${exitCode})`);
    else if (exitCode !== 0 && !explained) problems.push(`${command}: exit code ${exitCode}, although no test failed`);
  }

  const failed = all.filter(({ status }) => status === "failed").map(({ name }) => name);
  const passed = all.filter(({ status }) => status === "passed").length;
  if (passed + failed.length === 0) problems.push("no test was executed");
  return { passed, failures: [...problems, ...failed] };
}

/** @param {string} command @param {string} folder @param {string} exitCode @returns {Promise<CommandResult>} */
async function readResult(command, folder, exitCode) {
  const steps = await readJson(join(folder, "steps.json"));
  const vitest = await readJson(join(folder, "vitest.json"));
  /** @type {TestFile[] | undefined} */
  const files = vitest?.testResults;
  return {
    command,
    exitCode: Number(exitCode),
    failedSteps: steps?.failed ?? [],
    files: files?.map((file) => ({ ...file, name: relative(root, file.name) })),
  };
}

async function readJson(/** @type {string} */ file) {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    // Missing or truncated: the command ended early, and its exit code says so.
    return undefined;
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [checkFolder = "", checkExit = "", testFolder = "", testExit = ""] = process.argv.slice(2);
  const { passed, failures } = total([
    await readResult("npm run check", checkFolder, checkExit),
    await readResult("npm test", testFolder, testExit),
  ]);
  for (const failure of failures) console.log(`failed: ${failure}`);
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
