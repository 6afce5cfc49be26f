// Which findings fail a review, which are excused, and what is required: as flags and a file of rules say it.
import { suggestion } from "../../schema/index.ts";
import { RULES, type RuleName } from "./report.ts";

export interface Verdict {
  /** a finding of these rules fails the review */
  deny: readonly RuleName[];
  allow: readonly Allowance[];
  required?: Required;
}

/** What an organization must be like after the change. */
export interface Required {
  /** fewest identities with the role owner on the organization itself */
  owners?: number;
  /** those that may have it, by uid or path */
  mayOwn?: readonly string[];
}

export interface Allowance {
  rule: RuleName;
  /** uid, path or name of a record that exists */
  subject: string;
}

/** A rule, or why there is none of that name. */
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

/** Adds what was read, or why it cannot be read. */
export const addRead = <T>(held: T[], read: T | { problem: string }, problems: string[], where: string): void => {
  if (typeof read === "object" && read !== null && "problem" in read) problems.push(`${where}: ${read.problem}`);
  else held.push(read);
};

export const allowanceText = ({ rule, subject }: Allowance): string => `${rule}@${subject}`;
