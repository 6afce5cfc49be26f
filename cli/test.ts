// `irm test`: whether access is as its tests say, in a policy alone or live.
import { countText } from "../access/format/words.ts";
import { readLive } from "../access/graph/live.ts";
import { mistakeText } from "../access/policy/parse.ts";
import type { AccessTest, Policy } from "../access/policy/policy.ts";
import type { Mistake } from "../access/policy/source.ts";
import { textFiles } from "../access/policy/text-file.ts";
import { offlineRoles } from "../access/roles/lock.ts";
import { POLICY, readSuite, TESTS, type TestSuite } from "../access/test/file.ts";
import { type Outcome, runTests } from "../access/test/run-tests.ts";
import { type Built, liveScene, policyScene } from "../access/test/scene.ts";
import { printable } from "../schema/index.ts";
import { systemClient } from "./client.ts";
import { lockBeside, printOfflineRoles } from "./roles.ts";
import { type Format, print, printError } from "./terminal.ts";

export interface TestFlags {
  live?: boolean;
  format: Format;
}

const FAILED = 3;

export const test = async (file: string | undefined, { live, format }: TestFlags): Promise<number> => {
  const lock = live ? undefined : lockBeside(file);
  const builtIn = live ? [] : offlineRoles(lock);
  const { suite, mistakes } = readSuite(file, "", textFiles, { builtIn });
  const problems = mistakes.length > 0 ? mistakes : problemsOf(suite, file, live);
  if (problems.length > 0) return refuse(problems);
  const scenes: { built: Built; service?: string }[] = live
    ? [{ built: await readScene(suite) }]
    : builtIn.map(({ roles, service }) => ({
        built: { scene: policyScene(suite.policy as Policy, roles) },
        ...(builtIn.length > 1 && { service }),
      }));
  const runs = scenes.map(({ built, service }) =>
    "mistakes" in built ? built : { outcomes: runTests(suite.tests, built.scene), service },
  );
  const wrong = runs.flatMap((run) =>
    "mistakes" in run ? run.mistakes : suite.tests.flatMap((one, i) => mistakesOf(one, run.outcomes[i] as Outcome)),
  );
  if (wrong.length > 0) return refuse(wrong);
  if (!live) printOfflineRoles(lock);
  const results = suite.tests.map(({ name }, i) => ({ name, ...resultOf(runs as Run[], i) }));
  print(format === "json" ? `${JSON.stringify({ tests: results }, undefined, 2)}\n` : textOf(results));
  return results.every(({ passed }) => passed) ? 0 : FAILED;
};

interface Run {
  outcomes: readonly Outcome[];
  /** of several, whose built-in roles it ran with */
  service?: string;
}

/** A test must pass with the roles of every service. */
const resultOf = (runs: readonly Run[], i: number): Omit<Result, "name"> => {
  const results = runs.map(({ outcomes, service }) => ({ ...(outcomes[i] as Omit<Result, "name">), service }));
  const { service, ...result } = results.find(({ passed }) => !passed) ?? (results[0] as (typeof results)[number]);
  return { ...result, ...(service !== undefined && !result.passed && { reason: `${service}: ${result.reason}` }) };
};

const readScene = async (suite: TestSuite): Promise<Built> => {
  const client = systemClient();
  const live = await readLive(client);
  return liveScene(live, suite, client.clock.today());
};

const problemsOf = ({ tests, policy }: TestSuite, file: string | undefined, live: boolean | undefined): Mistake[] => {
  if (tests.length === 0) {
    const where = file ?? `${TESTS} or the section tests of ${POLICY}, in this folder`;
    return [{ path: "", text: file === undefined ? `there are no tests in ${where}` : `${file} has no tests` }];
  }
  if (policy !== undefined || live) return [];
  const text = `there is no policy beside the tests: name it with policy: FILE, or give --live to test what the API says`;
  return [{ path: "", text }];
};

const mistakesOf = ({ name, place }: AccessTest, outcome: Outcome): Mistake[] =>
  "mistakes" in outcome ? outcome.mistakes.map((text) => ({ path: JSON.stringify(name), text, place })) : [];

/** Each mistake of a file is a line that begins with its place, as `irm check` prints it. */
const refuse = (mistakes: readonly Mistake[]): number => {
  const lines = mistakes.map(mistakeText);
  const isOfFile = mistakes.some(({ place }) => place !== undefined);
  if (isOfFile) process.stderr.write(lines.map((line) => `${printable(line)}\n`).join(""));
  printError("irm test", isOfFile ? countText(lines.length, "mistake") : lines.join("\n"));
  return 1;
};

interface Result {
  name: string;
  passed: boolean;
  reason?: string;
}

const textOf = (results: readonly Result[]): string => {
  const failed = results.filter(({ passed }) => !passed).length;
  const lines = results.flatMap(({ name, passed, reason = "" }) => [
    `${passed ? "passed" : "FAILED"}  ${name}`,
    ...(passed ? [] : [`        ${reason}`]),
  ]);
  const count = `${countText(results.length, "test")}, ${failed === 0 ? "all passed" : `${failed} failed`}`;
  return `${[...lines, count].join("\n")}\n`;
};
