// The tests of a policy: its section `tests`, and the file beside it. A file of tests may also exist without a policy.
import { basename, dirname, join } from "node:path";
import { checkShape } from "../policy/check/shape.ts";
import { checkTests } from "../policy/check/test.ts";
import { checkSource, type PolicyOptions, readPolicy } from "../policy/parse.ts";
import type { AccessTest, Policy } from "../policy/policy.ts";
import { TestFileShape } from "../policy/shape.ts";
import { isMap, type Mistake, type Place, plainValue } from "../policy/source.ts";
import { type Files, type FindFile, readSource, textFiles } from "../policy/text-file.ts";

export interface TestSuite {
  tests: readonly AccessTest[];
  /** absent: the tests name only records of the API */
  policy?: Policy;
  /** name or uid, if the file of tests gives it */
  organization?: string;
}

export const POLICY = "access.yaml";
export const TESTS = "access.tests.yaml";

/** With any mistake the suite is incomplete, and no test should run. */
interface ReadSuite {
  suite: TestSuite;
  mistakes: Mistake[];
}

/** Reads a policy or a file of tests. Without a name it reads the files with the usual names in `folder`. */
export const readSuite = (
  file: string | undefined,
  folder: string,
  from: Files = textFiles,
  options: PolicyOptions = {},
): ReadSuite => {
  if (file === undefined) {
    const [policy, tests] = [join(folder, POLICY), join(folder, TESTS)].map((one) =>
      from.exists(one) ? one : undefined,
    );
    return suiteOf(policy !== undefined && isPolicy(policy, from) ? policy : undefined, tests, from, options);
  }
  if (isTestFile(file, from)) return suiteOfTests(file, from, options);
  const beside = testsBeside(file);
  return suiteOf(file, from.exists(beside) ? beside : undefined, from, options);
};

/** `team.tests.yaml` of `team.yaml` */
export const testsBeside = (policy: string): string =>
  policy.replace(/(\.ya?ml)?$/, (end) => `.tests${end || ".yaml"}`);

/** Another tool may have a file of this name. An unreadable file counts as a policy, so that its mistakes are reported. */
export const isPolicy = (file: string, from: Files): boolean => {
  const { source } = readSource(file, from.find);
  return !isMap(source) || ["organization", "tests"].some((section) => source.entries.has(section));
};

/** Its usual name decides; with another name, whether it contains tests and no organization. */
export const isTestFile = (file: string, from: Files = textFiles): boolean => {
  if (/\.tests\.ya?ml$/.test(file)) return true;
  const { source } = readSource(file, from.find);
  return isMap(source) && source.entries.has("tests") && !source.entries.has("organization");
};

/** Only its own tests, which name keys of the policy beside it. */
const suiteOfTests = (file: string, from: Files, options: PolicyOptions): ReadSuite => {
  const { value, mistakes } = readTests(file, from);
  const named = value?.policy === undefined ? undefined : join(dirname(file), value.policy);
  // It must not name a file elsewhere, whose text a mistake would show.
  const within: FindFile = (one) => from.find(one, dirname(file));
  const usual = [file.replace(/\.tests(\.ya?ml)$/, "$1"), join(dirname(file), POLICY)];
  const policyFile = named ?? usual.find((one) => basename(one) !== basename(file) && from.exists(one));
  const { policy, mistakes: wrong } = policyFile === undefined ? NOTHING_READ : readPolicy(policyFile, within, options);
  return {
    suite: {
      tests: value?.tests ?? [],
      policy,
      organization: value?.organization,
    },
    mistakes: [...wrong, ...mistakes, ...otherOrganization(value, policy)],
  };
};

/** The policy decides: another organization in its tests would not count. */
const otherOrganization = (tests: TestFile | undefined, policy: Policy | undefined): Mistake[] => {
  const { organization: text, place } = tests ?? {};
  const { name, uid } = policy?.organization ?? {};
  if (text === undefined || policy === undefined || text === name || text === uid) return [];
  const why = `the policy of these tests is of ${name ?? uid}, not of ${text}; leave this out`;
  return [{ path: "organization", text: why, place }];
};

const suiteOf = (
  policyFile: string | undefined,
  testFile: string | undefined,
  from: Files,
  options: PolicyOptions,
): ReadSuite => {
  if (policyFile === undefined)
    return testFile === undefined ? { suite: { tests: [] }, mistakes: [] } : suiteOfTests(testFile, from, options);
  const { policy, mistakes } = readPolicy(policyFile, from.find, options);
  const { value, mistakes: further } = testFile === undefined ? NOTHING_READ : readTests(testFile, from);
  return {
    suite: { tests: [...(policy?.tests ?? []), ...(value?.tests ?? [])], policy },
    mistakes: [...mistakes, ...further, ...otherOrganization(value, policy)],
  };
};

const NOTHING_READ: { policy?: Policy; value?: TestFile; mistakes: Mistake[] } = { mistakes: [] };

interface TestFile {
  policy?: string;
  organization?: string;
  /** of the organization */
  place?: Place | undefined;
  tests: readonly AccessTest[];
}

const NO_TESTS = "must be a map with tests, a list";

const readTests = (file: string, from: Files): { value?: TestFile; mistakes: Mistake[] } =>
  checkSource(readSource(file, from.find, NO_TESTS), (source, report): TestFile => {
    const draft = checkShape(plainValue(source), TestFileShape, report);
    const { policy, organization } = draft;
    const tests = checkTests(draft.tests, report);
    return { policy, organization, place: report.findPlace(["organization"]), tests };
  });
