// `irm test`: runs tests of access, in a policy alone or live.

import { jsonText } from "../../access/format/document/document.ts";
import { countText } from "../../access/format/words.ts";
import { readLive } from "../../access/graph/live.ts";
import type { BuiltInRoles } from "../../access/policy/check/role.ts";
import { mistakeText, type PolicyOptions } from "../../access/policy/parse.ts";
import type { Policy } from "../../access/policy/policy.ts";
import type { Mistake } from "../../access/policy/source.ts";
import { textFiles } from "../../access/policy/text-file.ts";
import { offlineRoles } from "../../access/roles/lock.ts";
import { POLICY, readSuite, TESTS, type TestSuite } from "../../access/test/file.ts";
import { type Outcome, runTests } from "../../access/test/run-tests.ts";
import { type Built, liveScene, policyScene } from "../../access/test/scene.ts";
import { printable } from "../../schema/index.ts";
import { systemClient } from "../client.ts";
import type { IrmCommand } from "../irm-command.ts";
import { type Format, print, printError } from "../terminal.ts";
import { lockBeside, printOfflineRoles } from "./roles.ts";

const FAILED = 3;

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Runs tests of access: who may do what, and who must not. Checks the policy, or with --live the service.",
    )
    .argument("[FILE]", "a policy, or a file of tests (default: access.yaml and access.tests.yaml of this folder)")
    .option("--live", "test the current access on the service instead of the policy")
    .formats("terminal", "json")
    .example("test --live")
    .runs(test);
};

const test = async (
  file: string | undefined,
  { live, format }: { live?: boolean; format: Format },
): Promise<number> => {
  const lock = live ? undefined : lockBeside(file);
  const builtIn = live ? [] : offlineRoles(lock);
  const { suite, mistakes } = readSuite(file, "", textFiles, { builtIn });
  const problems = mistakes.length > 0 ? mistakes : problemsOf(suite, file, live);
  if (problems.length > 0) return refuse(problems);
  let scenes: readonly Scene[];
  if (live) {
    const client = systemClient();
    scenes = [{ built: liveScene(await readLive(client), suite, client.clock.today()) }];
  } else scenes = policyScenes(suite, builtIn);
  const ran = runSuite(suite, scenes);
  if ("mistakes" in ran) return refuse(ran.mistakes);
  if (!live) printOfflineRoles(lock);
  return printResults(ran.results, format);
};

/** Runs the tests of a policy without mistakes, and those of the file beside it. */
export const testPolicy = (file: string, options: PolicyOptions & { builtIn: readonly BuiltInRoles[] }): Ran => {
  const { suite, mistakes } = readSuite(file, "", textFiles, options);
  return mistakes.length > 0 ? { mistakes } : runSuite(suite, policyScenes(suite, options.builtIn));
};

export const printResults = (results: readonly Result[], format: Format): number => {
  const failed = results.filter(({ passed }) => !passed).length;
  if (format === "json") print(jsonText({ tests: results }));
  else {
    const lines = results.flatMap(({ name, passed, reason = "" }) => [
      `${passed ? "passed" : "FAILED"}  ${name}`,
      ...(passed ? [] : [`        ${reason}`]),
    ]);
    const count = `${countText(results.length, "test")}, ${failed === 0 ? "all passed" : `${failed} failed`}`;
    print(`${[...lines, count].join("\n")}\n`);
  }
  return failed === 0 ? 0 : FAILED;
};

interface Scene {
  built: Built;
  /** of several, whose built-in roles it has */
  service?: string;
}

const policyScenes = ({ policy }: TestSuite, builtIn: readonly BuiltInRoles[]): Scene[] =>
  builtIn.map(({ roles, service }) => ({
    built: { scene: policyScene(policy as Policy, roles) },
    service: builtIn.length > 1 ? service : undefined,
  }));

type Ran = { mistakes: Mistake[] } | { results: Result[] };

const runSuite = ({ tests }: TestSuite, scenes: readonly Scene[]): Ran => {
  const runs = scenes.map(({ built, service }) =>
    "mistakes" in built ? built : { outcomes: runTests(tests, built.scene), service },
  );
  const mistakes = runs.flatMap((run) => {
    if ("mistakes" in run) return run.mistakes;
    return tests.flatMap(({ name, place }, i): Mistake[] => {
      const outcome = run.outcomes[i] as Outcome;
      return "mistakes" in outcome ? outcome.mistakes.map((text) => ({ path: JSON.stringify(name), text, place })) : [];
    });
  });
  if (mistakes.length > 0) return { mistakes };
  return { results: tests.map(({ name }, i) => ({ name, ...resultOf(runs as Run[], i) })) };
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
  return service === undefined || result.passed ? result : { ...result, reason: `${service}: ${result.reason}` };
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

/** Prints each mistake of a file on a line after its place, as `irm check` does. */
const refuse = (mistakes: readonly Mistake[]) => {
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
