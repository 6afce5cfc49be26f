// Tests of access on what a change leads to. Tests of the base count even if the change removes or edits them, and tests that the
// change adds count as well. A name in a test of the base means the record that had it before the change.

import { organizationsIn } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { policyGraph } from "../policy/graph.ts";
import type { AccessTest, Policy } from "../policy/policy.ts";
import type { Mistake } from "../policy/source.ts";
import type { PolicyStack } from "../policy/stack.ts";
import type { Proposal } from "../review/proposal.ts";
import type { TestResult } from "../review/report.ts";
import { everyoneIn } from "./everyone.ts";
import type { TestSuite } from "./file.ts";
import { namesIn } from "./names.ts";
import { type Outcome, runTests } from "./run-tests.ts";
import type { Scene } from "./scene.ts";
import { organizationIn } from "./scenes.ts";

/** What the state of the stack under review knows of a policy; undefined: names decide. */
export type StackOf = (policy: Policy) => PolicyStack | undefined;

export interface TestSides {
  /** absent: nothing is read at a base */
  base?: TestSuite;
  /** of the work tree */
  change: TestSuite;
}

export interface ChangeTests {
  results: TestResult[];
  /** what is wrong with the tests that the change adds */
  mistakes: Mistake[];
}

export const runChangeTests = (
  { base, change }: TestSides,
  proposal: Proposal,
  live: Live,
  nowMs: number,
  stackOf: StackOf,
): ChangeTests => {
  const known = new Set(base?.tests.map(textOf));
  const added = change.tests.filter((test) => !known.has(textOf(test)));
  const [old, own] = [
    base && base.tests.length > 0
      ? sceneOf(base, proposal, live, nowMs, stackOf, [proposal.before, proposal.after])
      : undefined,
    added.length > 0 ? sceneOf(change, proposal, live, nowMs, stackOf, [proposal.after, proposal.before]) : undefined,
  ];
  const mistakes = [old, own].flatMap((one) => (one && "mistakes" in one ? one.mistakes : []));
  if (mistakes.length > 0) return { results: [], mistakes };
  const results = old && "graph" in old ? run(base?.tests ?? [], old) : [];
  const ownResults = own && "graph" in own ? run(added, own) : [];
  return {
    results: [...results, ...ownResults].map(({ test, outcome }) => resultOf(test, outcome)),
    mistakes: ownResults.flatMap(({ test: { name, place }, outcome }) =>
      "mistakes" in outcome ? outcome.mistakes.map((text) => ({ path: JSON.stringify(name), text, place })) : [],
    ),
  };
};

/** A test as text, wherever it stands: the reader of tests writes the members in one order. */
const textOf = ({ place: _, ...test }: AccessTest): string => JSON.stringify(test);

const run = (tests: readonly AccessTest[], scene: Scene): { test: AccessTest; outcome: Outcome }[] =>
  runTests(tests, scene).map((outcome, i) => ({ test: tests[i] as AccessTest, outcome }));

const resultOf = ({ name }: AccessTest, outcome: Outcome): TestResult => {
  if (!("mistakes" in outcome)) return { name, ...outcome };
  return { name, passed: false, reason: `it names what does not exist: ${outcome.mistakes.join("; ")}` };
};

const sceneOf = (
  { policy, organization: text }: TestSuite,
  { after, organizations, unknown }: Proposal,
  { graph: live, notVisible }: Live,
  nowMs: number,
  stackOf: StackOf,
  graphs: readonly [Proposal["after"], Proposal["before"]],
): Scene | { mistakes: Mistake[] } => {
  const keys = policy && policyGraph(policy, live, stackOf(policy));
  if (keys && keys.mistakes.length > 0) return { mistakes: keys.mistakes };
  const created = organizationsIn(after).filter(({ uid }) => uid === null);
  const [touched, second] = organizations ?? [];
  const found =
    [keys?.organization, second === undefined ? touched : undefined].find(
      (id) => id !== undefined && after.groups.has(id),
    ) ??
    (created.length === 1 ? created[0]?.id : undefined) ??
    organizationIn(after, text);
  if (typeof found !== "string") return { mistakes: [found] };
  const notKnown = unknown.filter(({ hides }) => hides !== undefined).map(({ message }) => message);
  const all = graphs.map((one) => everyoneIn(one, nowMs));
  const names = namesIn(all, found, keys);
  return { graph: everyoneIn(after, nowMs), organization: found, names, notVisible, notKnown };
};

/** What the change does to the tests, a line for each: `- test "no pull request ever writes"`. */
export const testsDifference = ({ base, change }: TestSides): string[] => {
  const [was, is] = [base?.tests ?? [], change.tests].map(
    (tests) => new Map(tests.map((test) => [test.name, textOf(test)])),
  );
  const lines = (one: typeof was, other: typeof is, sign: string): string[] =>
    [...(one ?? [])].flatMap(([name, text]) =>
      other?.get(name) === text ? [] : [`${sign} test ${JSON.stringify(name)}`],
    );
  return [...lines(was, is, "-"), ...lines(is, was, "+")];
};
