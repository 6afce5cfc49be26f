import { expect, test } from "vitest";
import { total } from "../../scripts/test-total.mjs";

type Outcome = "passed" | "failed" | "skipped";

function file(name: string, ...tests: [string, Outcome][]) {
  const assertionResults = tests.map(([fullName, status]) => ({ fullName, status }));
  const status = assertionResults.some((each) => each.status === "failed") ? "failed" : "passed";
  return { name, status, assertionResults };
}
const run =
  (command: string) =>
  (...files: ReturnType<typeof file>[]) => ({ command, exitCode: 0, failedSteps: [] as string[], files });
const [check, suite] = [run("npm run check"), run("npm test")];
const unit = file("unit.test.ts", ["adds", "passed"], ["subtracts", "passed"]);
const lifecycle = file("lifecycle.test.ts", ["creates", "passed"]);

test("the total of a CI run adds up the tests of both commands", () => {
  expect(total([check(unit), suite(lifecycle)])).toEqual({ passed: 3, failures: [] });
});

test("the total of a CI run counts a failed test", () => {
  const failing = { ...check(file("unit.test.ts", ["adds", "failed"], ["subtracts", "passed"])), exitCode: 1 };
  expect(total([{ ...failing, failedSteps: ["unit tests"] }, suite(lifecycle)])).toEqual({
    passed: 2,
    failures: ["unit.test.ts: adds"],
  });
});

test("the total of a CI run counts a failed step that is not a test", () => {
  const failing = { ...check(unit), exitCode: 1, failedSteps: ["types"] };
  expect(total([failing, suite()])).toEqual({ passed: 2, failures: ["npm run check: types"] });
});

test("the total of a CI run counts a test file that could not be loaded", () => {
  const broken = { name: "b.test.ts", status: "failed", message: "SyntaxError: x\n at y", assertionResults: [] };
  const { passed, failures } = total([check(unit), { ...suite(lifecycle, broken), exitCode: 1 }]);
  expect(passed).toBe(3);
  expect(failures).toEqual(["npm test: b.test.ts could not run: SyntaxError: x"]);
});

test("the total of a CI run counts a command that ended before its tests, such as a set-up that failed", () => {
  expect(total([check(unit), { command: "npm test", exitCode: 1, failedSteps: [] }])).toEqual({
    passed: 2,
    failures: ["npm test: it ended before the tests (exit code 1)"],
  });
});

test("the total of a CI run counts an exit code that no failed test explains, such as an unhandled error", () => {
  expect(total([check(unit), { ...suite(unit), exitCode: 1 }]).failures).toEqual([
    "npm test: exit code 1, although no test failed",
  ]);
});

test("the total of a CI run counts a run without a single test as failed", () => {
  expect(total([check(), suite()])).toEqual({ passed: 0, failures: ["no test was executed"] });
});
