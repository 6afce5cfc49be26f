// The file of scripted failures: a valid one is accepted unchanged. All problems of an invalid one are reported at once, with
// file, line and column.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FaultsError, parseFaults } from "../../../server/index.ts";

const problems = (text: string): string[] => {
  try {
    parseFaults(text, "f.yaml");
  } catch (error) {
    expect(error).toBeInstanceOf(FaultsError);
    return (error as FaultsError).message.split("\n");
  }
  throw new Error("the file was accepted");
};

const ofStep = (step: string) => problems(`rules:\n  - operation: "*"\n    steps:\n      - ${step}\n`);

test("the example of docs/server.md is accepted", () => {
  const page = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");
  const yaml = /```yaml\n(readAfterWriteLag:.*?)```/s.exec(page)?.[1] as string;
  expect(Object.keys(parseFaults(yaml, "docs/server.md"))).toEqual(["readAfterWriteLag", "rules", "random"]);
});

test("all problems are reported at once, each with its place", () => {
  const text = `readAfterWriteLag: 3
rules:
  - operation: MakeGroup
    steps:
      - { status: 302 }
      - { delay: 2m }
      - { status: 503, reset: true }
  - steps: []
random: { rate: 2, seed: x, steps: [{ at: during }] }
more: 1
`;
  expect(problems(text)).toEqual([
    "f.yaml:1:20: readAfterWriteLag: must be a duration such as 2s or 250ms",
    'f.yaml:3:16: rules.0.operation: must be the name of an operation, such as CreateGroup, or "*"',
    "f.yaml:5:19: rules.0.steps.0.status: must be an HTTP status from 400 to 599, or 200",
    "f.yaml:6:18: rules.0.steps.1.delay: must be a duration such as 2s or 250ms",
    "f.yaml:7:31: rules.0.steps.2.reset: cannot be combined with status",
    'f.yaml:8:5: rules.1.operation: must be the name of an operation, such as CreateGroup, or "*"',
    "f.yaml:8:12: rules.1.steps: must have a step",
    "f.yaml:9:17: random.rate: must be at most 1",
    "f.yaml:9:26: random.seed: must be a number",
    "f.yaml:9:43: random.steps.0.at: must be before or after",
    "f.yaml:10:7: more: there is no such field here",
  ]);
});

test.each([
  ["two ends", "{ truncate: 1, reset: true }", "21: truncate: cannot be combined with reset"],
  ["Retry-After without a status", "{ retryAfter: 1 }", "23: retryAfter: needs a status"],
  ["a page without a status", "{ body: html }", "17: body: needs a status"],
  ["a success", "{ status: 200 }", "19: status: 200 needs body: html; without a failure the step is {}"],
  [
    "a truncated response of nothing",
    "{ truncate: 1, at: before }",
    "28: at: must be after: only the response to a completed request can be truncated",
  ],
  ["a date without a wait", "{ status: 503, httpDate: true }", "34: httpDate: needs retryAfter"],
  ["two waits", "{ delay: 1s, hold: true }", "28: hold: cannot be combined with delay"],
  ["a time without a failure", "{ at: after }", "15: at: needs status, reset, truncate, delay or hold"],
  ["an unknown word", "{ latency: 1s }", "20: latency: there is no such field here"],
])("steps without a meaning: %s", (_, step, expected) => {
  expect(ofStep(step)).toEqual([`f.yaml:4:${expected.replace(": ", ": rules.0.steps.0.")}`]);
});
