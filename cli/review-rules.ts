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
import { projectAt } from "./policy/files.ts";
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
  const file = at ? rulesOfBase(flags.rules, at) : rulesOfWorkTree(flags.rules, folder);
  const { rules, problems: wrong, ...found } = file;
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
export const editsOf = (file: string, lead: string, items: readonly string[], foot: string): ChangedRules[] => {
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

/** From the top level of the repository, as with a base; from this folder where there is no repository. */
const fileOf = (flag: string, folder: string) =>
  isAbsolute(flag) ? flag : join(repositoryRoot(folder) ?? folder, flag);
