// --deny, --allow, --rules, --tests and --base: the rules that fail a review, their exceptions, and the tests of access. In a job of a pull
// request the rules come from the base: the author of the change could edit the file in the work tree.
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, posix, relative, resolve } from "node:path";
import { BaseError, repositoryRoot } from "../access/base/git.ts";
import { type BaseRevision, filesAt, pathAt, pathInRepository, type Sides, sidesOf } from "../access/base/revision.ts";
import { mistakeText } from "../access/policy/parse.ts";
import type { Mistake } from "../access/policy/source.ts";
import { type Files, textFiles } from "../access/policy/text-file.ts";
import type { ChangedRules } from "../access/review/index.ts";
import type { RulesSource } from "../access/review/report.ts";
import {
  addRead,
  allowanceFrom,
  parseRules,
  ruleFrom,
  rulesDifference,
  type Verdict,
} from "../access/review/rules-file.ts";
import { type TestSides, testsDifference } from "../access/test/change.ts";
import { isPolicy, POLICY, readSuite, TESTS, type TestSuite, testsBeside } from "../access/test/file.ts";
import { projectFolder } from "../pulumi/project.ts";
import { UserError } from "../schema/index.ts";
import { UsageError } from "./irm-command.ts";
import { projectAt } from "./policy/files.ts";

export interface RulesFlags {
  deny?: readonly string[];
  allow?: readonly string[];
  rules?: string;
  base?: string;
  /** of a job, no flag: the branch that rules come from */
  branch?: string;
}

interface ReviewRules {
  /** absent: neither a file nor a base is asked for */
  source?: RulesSource;
  changed: ChangedRules[];
  /** for the user, on stderr */
  notice?: string | undefined;
}

const DEFAULT = "review.yaml";

/** Throws a UsageError with all problems of flags and files. */
export const reviewRules = (
  flags: RulesFlags,
  at: BaseRevision | undefined,
  folder: string,
): ReviewRules & { verdict: Verdict } => {
  const { deny = [], allow = [] } = flags;
  const verdict = { deny: [] as Verdict["deny"][number][], allow: [] as Verdict["allow"][number][] };
  const problems: string[] = [];
  for (const text of deny) addRead(verdict.deny, ruleFrom(text), problems, "--deny");
  for (const text of allow) addRead(verdict.allow, allowanceFrom(text), problems, "--allow");
  const { rules, problems: wrong, ...found } = at ? rulesOfBase(flags.rules, at) : rulesOfWorkTree(flags.rules, folder);
  problems.push(...wrong);
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  const { deny: denied = [], allow: allowed = [], required } = rules ?? {};
  return {
    ...found,
    verdict: { deny: [...denied, ...verdict.deny], allow: [...allowed, ...verdict.allow], required },
  };
};

interface RulesFile extends ReviewRules {
  rules?: Verdict | undefined;
  problems: string[];
}

const rulesOfBase = (flag: string | undefined, at: BaseRevision): RulesFile => {
  const { repository, ref, commit } = at;
  const file =
    flag === undefined ? posix.join(projectAt(at) ?? at.folder, DEFAULT) : pathInRepository(repository, flag);
  const sides = sidesOf(repository, at, file);
  if (flag !== undefined && sides.base === undefined && sides.change === undefined)
    throw new UsageError(
      `--rules: there is no ${file} at ${ref}, nor in the work tree; the path counts from ${repository.root}`,
    );
  const parsed = sides.base === undefined ? undefined : parseRules(sides.base, `${ref}:${file}`);
  const isThere = parsed !== undefined;
  return {
    rules: parsed?.rules,
    source: { file, isThere, base: ref, commit },
    changed: changeOf(sides, parsed?.rules),
    problems: parsed?.problems ?? [],
    notice: isThere ? undefined : `there is no ${file} at ${ref}, so only --deny and --allow count`,
  };
};

const MEANWHILE = "this counts after the merge only";

const changeOf = ({ path: file, base, change }: Sides, rules: Verdict | undefined): ChangedRules[] => {
  if (change === base) return [];
  const found = (text: string): ChangedRules[] => [{ file, message: `${text}; ${MEANWHILE}` }];
  if (typeof change === "object") return found(`${file} ${change.problem} in this change`);
  if (change === undefined) return found(`this change removes ${file}, and with it all its rules`);
  const { rules: edited, problems } = parseRules(change, file);
  if (problems.length > 0) return found(`this change edits ${file} so that it has mistakes: ${problems.join("; ")}`);
  const lines = rulesDifference(rules, edited);
  if (base === undefined && lines.length === 0) return found(`this change adds ${file}: no rules`);
  return editsOf(file, `this change ${base === undefined ? "adds" : "edits"} ${file}`, lines, MEANWHILE);
};

/** The lines by which a change edits a file. `foot` says when they count. */
const editsOf = (file: string, lead: string, items: readonly string[], foot: string): ChangedRules[] => {
  if (items.length === 0) return [];
  const list = { lead: `${lead}; ${foot}:`, items: [...items] };
  return [{ file, message: `${lead}: ${items.join(", ")}; ${foot}`, ...(items.length > 1 && { list }) }];
};

const rulesOfWorkTree = (flag: string | undefined, folder: string): RulesFile => {
  const file = flag === undefined ? defaultIn(folder) : fileOf(flag, folder);
  if (file === undefined) return { changed: [], problems: [] };
  const name = flag ?? (relative(folder, file) || file);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const isBeside = !isAbsolute(name) && existsSync(join(folder, name));
    const counts = isBeside ? `; the path counts from the top level of the repository, so this is ${file}` : "";
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? `there is no file ${name}` : `cannot read ${name}: ${message}`;
    return { changed: [], problems: [`--rules: ${problem}${counts}`] };
  }
  const { rules, problems } = parseRules(text, name);
  const notice = `the rules come from ${name} in the work tree; for a pull request give --base REF: its author cannot edit the rules there`;
  return { rules, source: { file: name, isThere: true }, changed: [], problems, notice };
};

const defaultIn = (folder: string): string | undefined => {
  const file = join(projectFolder(folder, existsSync) ?? folder, DEFAULT);
  return existsSync(file) ? file : undefined;
};

/** From the top level of the repository, as with a base; from this folder outside of a repository. */
const fileOf = (flag: string, folder: string) =>
  isAbsolute(flag) ? flag : join(repositoryRoot(folder) ?? folder, flag);

// The tests of access of a review: those of the base, which the author of the change cannot edit, and those of the work tree.

export interface TestsFlags {
  /** files of policies under review */
  policy?: readonly string[];
  tests?: string;
}

/** The place of tests; neither: beside Pulumi.yaml. */
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
  if (tests !== undefined) return readSuite(fileOf(tests, folder), folder);
  if (policy !== undefined) return suiteBeside(policy, folder, textFiles);
  return readSuite(undefined, projectFolder(folder, existsSync) ?? folder);
};

/** Of a policy, which the change may add or remove, and its tests alone. */
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
    // A policy that the change adds may have tests already.
    if (tests !== undefined) return presentSuite(pathInRepository(at.repository, tests), own, files);
    const file = policy && pathAt(resolve(folder, policy), at);
    return file ? suiteBeside(file, own, files) : readSuite(undefined, own, files);
  };
  const { suite, mistakes } = read();
  if (mistakes.length > 0) throw new BaseError(wrongTests(mistakes, ` at ${at.ref}`));
  return suite;
};
