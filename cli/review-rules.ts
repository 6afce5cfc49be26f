// --deny, --allow and --rules: what fails a review, and what is excused. All problems at once.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { mistakeText } from "../access/policy/index.ts";
import { pathText, plainValue } from "../access/policy/source.ts";
import { sourceFromYaml } from "../access/policy/yaml-source.ts";
import { allowanceFrom, ruleFrom, type Verdict } from "../access/review/rules-option.ts";
import { suggestion } from "../schema/index.ts";
import { shapeError } from "../schema/shape.ts";
import { UsageError } from "./usage.ts";

export interface RulesFlags {
  deny?: readonly string[];
  allow?: readonly string[];
  rules?: string;
}

export const verdictFrom = ({ deny = [], allow = [], rules }: RulesFlags): Verdict => {
  const verdict = { deny: [] as Verdict["deny"][number][], allow: [] as Verdict["allow"][number][] };
  const problems: string[] = [];
  const add = <T>(list: T[], read: T | { problem: string }, where: string): void => {
    if (typeof read === "object" && read !== null && "problem" in read) problems.push(`${where}: ${read.problem}`);
    else list.push(read);
  };
  const own = rules === undefined ? { deny: [], allow: [], problems: [] } : readRules(rules);
  problems.push(...own.problems);
  for (const [i, text] of own.deny.entries()) add(verdict.deny, ruleFrom(text), `${rules}: deny[${i}]`);
  for (const [i, text] of own.allow.entries()) add(verdict.allow, allowanceFrom(text), `${rules}: allow[${i}]`);
  for (const text of deny) add(verdict.deny, ruleFrom(text), "--deny");
  for (const text of allow) add(verdict.allow, allowanceFrom(text), "--allow");
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return verdict;
};

const NAMES = ["deny", "allow"];
const list = z.array(z.string()).nullish();
const Rules = z.looseObject({ deny: list, allow: list }).nullish();

const readRules = (file: string): { deny: string[]; allow: string[]; problems: string[] } => {
  const nothing = { deny: [], allow: [] };
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return { ...nothing, problems: [`--rules: cannot read ${file}: ${(error as Error).message}`] };
  }
  const { source, mistakes } = sourceFromYaml(text, file);
  if (!source || mistakes.length > 0) return { ...nothing, problems: mistakes.map(mistakeText) };
  const { data, error } = Rules.safeParse(plainValue(source), { error: shapeError });
  if (error)
    return {
      ...nothing,
      problems: error.issues.map(({ path, message }) => [file, pathText(path), message].filter(Boolean).join(": ")),
    };
  const unknown = Object.keys(data ?? {}).filter((name) => !NAMES.includes(name));
  const problems = unknown.map(
    (name) => `${file}: ${name} is unknown${suggestion(name, NAMES) || "; there are deny and allow"}`,
  );
  return { deny: data?.deny ?? [], allow: data?.allow ?? [], problems };
};
