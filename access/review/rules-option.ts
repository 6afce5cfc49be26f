// Which findings fail a review, and which are excused.
import { suggestion } from "../../schema/index.ts";
import { type Finding, RULES, type RuleName } from "./report.ts";

export interface Verdict {
  /** a finding of these rules fails the review */
  deny: readonly RuleName[];
  allow: readonly Allowance[];
}

export interface Allowance {
  rule: RuleName;
  /** uid or name */
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
    return { problem: `${JSON.stringify(text)} is not RULE@SUBJECT, such as gains-owner@release` };
  const rule = ruleFrom(text.slice(0, at));
  return typeof rule === "string" ? { rule, subject: text.slice(at + 1) } : rule;
};

export const judged = (findings: readonly Finding[], { deny, allow }: Verdict): Finding[] =>
  findings.map((finding) => {
    const { rule, subject, name } = finding;
    if (allow.some((one) => one.rule === rule && (one.subject === subject || one.subject === name)))
      return { ...finding, allowed: true };
    return deny.includes(rule) ? { ...finding, denied: true } : finding;
  });
