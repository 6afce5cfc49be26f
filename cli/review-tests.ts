// The tests of access that a review runs: the tests of the base, which the author of the change cannot edit, and of the work tree.
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { BaseError, repositoryRoot } from "../access/base/git.ts";
import { type BaseRevision, filesAt, pathAt, pathInRepository } from "../access/base/revision.ts";
import { mistakeText } from "../access/policy/parse.ts";
import type { Mistake } from "../access/policy/source.ts";
import { type Files, textFiles } from "../access/policy/text-file.ts";
import type { ChangedRules } from "../access/review/index.ts";
import { type TestSides, testsDifference } from "../access/test/change.ts";
import { isPolicy, POLICY, readSuite, TESTS, type TestSuite, testsBeside } from "../access/test/file.ts";
import { projectFolder } from "../pulumi/project.ts";
import { UserError } from "../schema/index.ts";
import { projectAt } from "./policy/files.ts";
import { editsOf } from "./review-rules.ts";

export interface TestsFlags {
  /** files of policies under review */
  policy?: readonly string[];
  tests?: string;
}

/** Where tests stand; neither: beside Pulumi.yaml. */
interface Place {
  policy?: string;
  tests?: string;
}

interface ReviewTests {
  sides: TestSides;
  changed: ChangedRules[];
}

/** `where`: at the base. */
export const wrongTests = (mistakes: readonly Mistake[], where = ""): string =>
  [`the tests of access${where} have mistakes, so there is no review:`, ...mistakes.map(mistakeText)].join("\n");

/** Those of --tests, or else those beside Pulumi.yaml and those of each policy. */
export const reviewTests = (
  { policy: policies = [], tests }: TestsFlags,
  at: BaseRevision | undefined,
  folder: string,
): ReviewTests[] => {
  if (tests !== undefined) return [testsOf({ tests }, at, folder)];
  const usual = join(projectFolder(folder, existsSync) ?? folder, POLICY);
  const others = policies.filter((policy) => resolve(folder, policy) !== usual);
  return [{}, ...others.map((policy) => ({ policy }))].map((place) => testsOf(place, at, folder));
};

const testsOf = (flags: Place, at: BaseRevision | undefined, folder: string): ReviewTests => {
  const { suite, mistakes } = readWorkTree(flags, folder);
  if (mistakes.length > 0) throw new UserError(wrongTests(mistakes));
  if (at === undefined) return { sides: { change: suite }, changed: [] };
  const base = readBase(flags, at, folder);
  const sides: TestSides = { base, change: suite };
  const lines = testsDifference(sides);
  const file = flags.tests ?? flags.policy ?? TESTS;
  const foot = "what it removes counts until the merge, and what it adds counts already";
  return { sides, changed: editsOf(file, "this change edits the tests of access", lines, foot) };
};

const readWorkTree = ({ tests, policy }: Place, folder: string) => {
  if (tests !== undefined)
    return readSuite(isAbsolute(tests) ? tests : join(repositoryRoot(folder) ?? folder, tests), folder);
  if (policy !== undefined) return suiteBeside(policy, folder, textFiles);
  return readSuite(undefined, projectFolder(folder, existsSync) ?? folder);
};

/** Of a policy, which the change may bring or remove, and its tests alone. */
const suiteBeside = (policy: string, folder: string, files: Files) => {
  const isOne = !files.exists(policy) || isPolicy(policy, files);
  return isOne ? presentSuite(policy, folder, files) : NOTHING;
};

const presentSuite = (file: string, folder: string, files: Files) => {
  const present = [file, testsBeside(file)].find(files.exists);
  return present === undefined ? NOTHING : readSuite(present, folder, files);
};

const NOTHING = { suite: { tests: [] }, mistakes: [] };

const readBase = ({ tests, policy }: Place, at: BaseRevision, folder: string): TestSuite => {
  const files = filesAt(at);
  const own = projectAt(at) ?? at.folder;
  const read = (): ReturnType<typeof readSuite> => {
    // A policy that the change brings may have tests already.
    if (tests !== undefined) return presentSuite(pathInRepository(at.repository, tests), own, files);
    const file = policy && pathAt(resolve(folder, policy), at);
    return file ? suiteBeside(file, own, files) : readSuite(undefined, own, files);
  };
  const { suite, mistakes } = read();
  if (mistakes.length > 0) throw new BaseError(wrongTests(mistakes, ` at ${at.ref}`));
  return suite;
};
