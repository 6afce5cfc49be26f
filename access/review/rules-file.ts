// A file of rules: which findings fail a review, which are excused, and what is required. Reports all problems at once.
import { z } from "zod";
import { isObject, suggestion } from "../../schema/index.ts";
import { readShape } from "../policy/parse.ts";
import { RULES, type RuleName } from "./report.ts";

const readBy = <T>(read: (text: string) => T | { problem: string }) =>
  z.string().transform((text, context) => {
    const found = read(text);
    if (!isProblem(found)) return found;
    context.addIssue(found.problem);
    return z.NEVER;
  });

const isProblem = (found: unknown): found is { problem: string } => isObject(found) && "problem" in found;

const REQUIRED = { owners: z.int().min(1).nullish(), "may-own": z.array(z.string()).nullish() };
const FIELDS = {
  deny: z.array(readBy((text) => ruleFrom(text))).nullish(),
  allow: z.array(readBy((text) => allowanceFrom(text))).nullish(),
  required: z.strictObject(REQUIRED).nullish(),
};
const Rules = z.strictObject(FIELDS).nullish();

/** `name` names the file in the problems. */
export const parseRules = (text: string, name: string): { rules: Verdict; problems: string[] } => {
  const { data, problems } = readShape(text, name, Rules, textsOf);
  const { owners, "may-own": mayOwn } = data?.required ?? {};
  const required = { owners: owners ?? undefined, mayOwn: mayOwn ?? undefined };
  return { rules: { deny: data?.deny ?? [], allow: data?.allow ?? [], required }, problems };
};

const textsOf = (issue: z.core.$ZodIssue) => {
  if (issue.code !== "unrecognized_keys") return [issue.message];
  const names = Object.keys(issue.path.length === 0 ? FIELDS : REQUIRED);
  return issue.keys.map((key) => `${key} is unknown${suggestion(key, names) || `; there are ${names.join(" and ")}`}`);
};

/** The differences between two files of rules, a line for each: `+ allow gains-owner@platform/release`. */
export const rulesDifference = (before: Verdict | undefined, after: Verdict | undefined): string[] => {
  const [was, is] = [linesOf(before), linesOf(after)];
  return [
    ...was.filter((line) => !is.includes(line)).map((line) => `- ${line}`),
    ...is.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
  ];
};

const linesOf = ({ deny, allow, required = {} }: Verdict = { deny: [], allow: [] }) => [
  ...deny.map((rule) => `deny ${rule}`),
  ...allow.map((one) => `allow ${allowanceText(one)}`),
  ...(required.owners === undefined ? [] : [`required owners: ${required.owners}`]),
  ...(required.mayOwn === undefined ? [] : [`required may-own: ${required.mayOwn.join(", ") || "no identity"}`]),
];

// Which findings fail a review, which are excused, and what is required, by flags and a file of rules.

export interface Verdict {
  /** a finding of these rules fails the review */
  deny: readonly RuleName[];
  allow: readonly Allowance[];
  required?: Required;
}

/** Requirements on an organization after the change. */
export interface Required {
  /** minimum number of identities with the role owner on the organization itself */
  owners?: number;
  /** the only identities that may have it, by uid or path */
  mayOwn?: readonly string[];
}

export interface Allowance {
  rule: RuleName;
  /** uid, path or name of an existing record */
  subject: string;
}

/** A rule, or why no rule has this name. */
export const ruleFrom = (text: string): RuleName | { problem: string } =>
  RULES.find((rule) => rule === text) ?? {
    problem: `there is no rule ${JSON.stringify(text)}${suggestion(text, RULES) || `; there are ${RULES.join(", ")}`}`,
  };

/** `RULE@SUBJECT` */
export const allowanceFrom = (text: string): Allowance | { problem: string } => {
  const at = text.indexOf("@");
  if (at < 1 || at === text.length - 1)
    return { problem: `${JSON.stringify(text)} is not RULE@SUBJECT, such as gains-owner@platform/release` };
  const rule = ruleFrom(text.slice(0, at));
  return typeof rule === "string" ? { rule, subject: text.slice(at + 1) } : rule;
};

/** Adds a result, or why it cannot be read. */
export const addRead = <T>(held: T[], read: T | { problem: string }, problems: string[], where: string): void => {
  if (isProblem(read)) problems.push(`${where}: ${read.problem}`);
  else held.push(read);
};

export const allowanceText = ({ rule, subject }: Allowance): string => `${rule}@${subject}`;
