// The tests of access that a review runs: the tests of the base, which the author of the change cannot edit, and of the work tree.
import { existsSync } from "node:fs";
import { isAbsolute, join, posix, resolve } from "node:path";
import { type At, filesAt, pathAt } from "../access/base/at.ts";
import { pathInRepository } from "../access/base/file.ts";
import { BaseError, repositoryRoot } from "../access/base/git.ts";
import { mistakeText, type Policy, readPolicy } from "../access/policy/index.ts";
import type { ParsedPolicy } from "../access/policy/parse.ts";
import type { Mistake } from "../access/policy/source.ts";
import type { ChangedRules } from "../access/review/index.ts";
import { type TestSides, testsDifference } from "../access/test/change.ts";
import { readSuite, suiteOfPolicy, TESTS, type TestSuite, testsBeside } from "../access/test/file.ts";
import { projectFolder } from "../client/folder.ts";

export interface TestsFlags {
  policy?: string;
  tests?: string;
}

export interface ReviewTests {
  sides: TestSides;
  changed: ChangedRules[];
}

/** The tests of the work tree have mistakes. */
export class TestsError extends Error {
  override readonly name = "TestsError";
}

export const wrongTests = (mistakes: readonly Mistake[]): string =>
  ["the tests of access have mistakes, so there is no review:", ...mistakes.map(mistakeText)].join("\n");

/** `policy` is what --policy names, which was read already. */
export const reviewTests = (
  flags: TestsFlags,
  at: At | undefined,
  folder: string,
  policy: ParsedPolicy | undefined,
): ReviewTests => {
  const { suite, mistakes } = readWorkTree(flags, folder, policy);
  if (mistakes.length > 0) throw new TestsError(wrongTests(mistakes));
  if (at === undefined) return { sides: { change: suite }, changed: [] };
  const base = readBase(flags, at, folder);
  const sides: TestSides = { base, change: suite };
  const lines = testsDifference(sides);
  const file = flags.tests ?? flags.policy ?? TESTS;
  const [lead, foot] = [
    "this change edits the tests of access",
    "what it removes counts until the merge, and what it adds counts already",
  ];
  const text = {
    message: `${lead}: ${lines.join(", ")}; ${foot}`,
    ...(lines.length > 1 && { list: { lead: `${lead}; ${foot}:`, items: lines } }),
  };
  return { sides, changed: lines.length === 0 ? [] : [{ file, ...text }] };
};

const readWorkTree = ({ tests, policy: file }: TestsFlags, folder: string, policy: ParsedPolicy | undefined) => {
  if (tests !== undefined)
    return readSuite(isAbsolute(tests) ? tests : join(repositoryRoot(folder) ?? folder, tests), folder);
  if (file === undefined || policy === undefined)
    return readSuite(undefined, projectFolder(folder, existsSync) ?? folder);
  return suiteOfPolicy(file, policy);
};

const readBase = ({ tests, policy }: TestsFlags, at: At, folder: string): TestSuite => {
  const files = filesAt(at);
  const file =
    tests === undefined ? policy && pathAt(resolve(folder, policy), at) : pathInRepository(at.repository, tests);
  // A policy that the change brings may have tests already.
  const present = [file, file && testsBeside(file)].find((one) => one !== undefined && files.exists(one));
  if (file !== undefined && present === undefined) return { tests: [] };
  const { suite, mistakes } = readSuite(present, projectFolder(at.folder, files.exists, posix) ?? at.folder, files);
  if (mistakes.length === 0) return suite;
  const texts = mistakes.map(mistakeText);
  throw new BaseError([`the tests of access at ${at.ref} have mistakes, so there is no review:`, ...texts].join("\n"));
};

/** The policy that --policy names, as the base has it. */
export const policyAtBase = (policy: string, at: At, folder: string): { policy?: Policy } => {
  const files = filesAt(at);
  const file = pathAt(resolve(folder, policy), at);
  if (file === undefined || !files.exists(file)) return {};
  const { policy: own, mistakes } = readPolicy(file, files.find);
  if (own !== undefined) return { policy: own };
  const texts = mistakes.map(mistakeText);
  throw new BaseError([`the policy at ${at.ref} has mistakes, so there is no review:`, ...texts].join("\n"));
};
