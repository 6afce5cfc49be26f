// --deny, --allow, --rules and --base: what fails a review, and what is excused. In a job of a pull request the rules come from
// the base: the author of the change could edit the file in the work tree.
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, posix, relative } from "node:path";
import { repositoryRoot } from "../access/base/git.ts";
import { type BaseRevision, pathInRepository, type Sides, sidesOf } from "../access/base/revision.ts";
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
import { projectFolder } from "../pulumi/project.ts";
import { UsageError } from "./usage.ts";

export interface RulesFlags {
  deny?: readonly string[];
  allow?: readonly string[];
  rules?: string;
  base?: string;
  /** of a job, no flag: the branch that rules come from */
  branch?: string;
}

interface ReviewRules {
  verdict: Verdict;
  /** absent: neither a file nor a base is asked for */
  source?: RulesSource;
  changed: ChangedRules[];
  /** for the user, on stderr */
  notice?: string;
}

const DEFAULT = "review.yaml";

/** Throws a UsageError with all problems of flags and files. */
export const reviewRules = (flags: RulesFlags, at: BaseRevision | undefined, folder: string): ReviewRules => {
  const { deny = [], allow = [] } = flags;
  const verdict = { deny: [] as Verdict["deny"][number][], allow: [] as Verdict["allow"][number][] };
  const problems: string[] = [];
  for (const text of deny) addRead(verdict.deny, ruleFrom(text), problems, "--deny");
  for (const text of allow) addRead(verdict.allow, allowanceFrom(text), problems, "--allow");
  const file = at ? rulesOfBase(flags.rules, at) : rulesOfWorkTree(flags.rules, folder);
  problems.push(...file.problems);
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  const { deny: denied = [], allow: allowed = [], required } = file.rules ?? {};
  return {
    verdict: {
      deny: [...denied, ...verdict.deny],
      allow: [...allowed, ...verdict.allow],
      ...(required && { required }),
    },
    ...(file.source && { source: file.source }),
    changed: file.changed,
    ...(file.notice !== undefined && { notice: file.notice }),
  };
};

interface RulesFile {
  rules?: Verdict;
  source?: RulesSource;
  changed: ChangedRules[];
  problems: string[];
  notice?: string;
}

const rulesOfBase = (flag: string | undefined, at: BaseRevision): RulesFile => {
  const { repository, ref, commit, folder: own } = at;
  const has = (entry: string): boolean => repository.has(commit, entry);
  const file =
    flag === undefined
      ? posix.join(projectFolder(own, has, posix) ?? own, DEFAULT)
      : pathInRepository(repository, flag);
  const sides = sidesOf(repository, at, file);
  if (flag !== undefined && sides.base === undefined && sides.change === undefined)
    throw new UsageError(
      `--rules: there is no ${file} at ${ref}, nor in the work tree; the path counts from ${repository.root}`,
    );
  const parsed = sides.base === undefined ? undefined : parseRules(sides.base, `${ref}:${file}`);
  const isThere = parsed !== undefined;
  return {
    ...(parsed && { rules: parsed.rules }),
    source: { file, isThere, base: ref, commit },
    changed: changeOf(sides, parsed?.rules),
    problems: parsed?.problems ?? [],
    ...(!isThere && { notice: `there is no ${file} at ${ref}, so only --deny and --allow count` }),
  };
};

const MEANWHILE = "this counts after the merge only";

const changeOf = ({ path: file, base, change }: Sides, rules: Verdict | undefined): ChangedRules[] => {
  if (change === base) return [];
  const changeText = (message: string): ChangedRules[] => [{ file, message }];
  const changeList = (lead: string, items: readonly string[]): ChangedRules[] => {
    const list = { lead: `${lead}; ${MEANWHILE}:`, items: [...items] };
    return [{ file, message: `${lead}: ${items.join(", ")}; ${MEANWHILE}`, ...(items.length > 1 && { list }) }];
  };
  if (typeof change === "object") return changeText(`${file} ${change.problem} in this change; ${MEANWHILE}`);
  if (change === undefined) return changeText(`this change removes ${file}, and with it all its rules; ${MEANWHILE}`);
  const { rules: edited, problems } = parseRules(change, file);
  if (problems.length > 0)
    return changeText(`this change edits ${file} so that it has mistakes: ${problems.join("; ")}; ${MEANWHILE}`);
  const lines = rulesDifference(rules, edited);
  if (base === undefined && lines.length === 0) return changeText(`this change adds ${file}: no rules; ${MEANWHILE}`);
  return lines.length === 0 ? [] : changeList(`this change ${base === undefined ? "adds" : "edits"} ${file}`, lines);
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

/** From the top level of the repository, as with a base; from this folder where there is no repository. */
const fileOf = (flag: string, folder: string): string =>
  isAbsolute(flag) ? flag : join(repositoryRoot(folder) ?? folder, flag);
