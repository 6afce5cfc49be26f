// A file of rules: what fails a review, what is excused, and what is required. All problems at once.
import { z } from "zod";
import { isObject, type Json, suggestion } from "../../schema/index.ts";
import { shapeError } from "../../schema/json.ts";
import { mistakeText } from "../policy/parse.ts";
import { pathText, plainValue } from "../policy/source.ts";
import { sourceFromYaml } from "../policy/yaml-source.ts";
import { RULES, type RuleName } from "./report.ts";

const list = z.array(z.string()).nullish();
const Rules = z
  .looseObject({
    deny: list,
    allow: list,
    required: z.looseObject({ owners: z.int().min(1).nullish(), "may-own": list }).nullish(),
  })
  .nullish();

const FIELDS = ["deny", "allow", "required"];
const REQUIRED_FIELDS = ["owners", "may-own"];

interface ParsedRules {
  rules: Verdict;
  /** any of them: the rules are not complete */
  problems: string[];
}

/** `name` is what the problems call the file. */
export const parseRules = (text: string, name: string): ParsedRules => {
  const verdict = { deny: [] as Verdict["deny"][number][], allow: [] as Verdict["allow"][number][] };
  const { source, mistakes } = sourceFromYaml(text, name);
  if (!source || mistakes.length > 0) return { rules: verdict, problems: mistakes.map(mistakeText) };
  const raw = plainValue(source);
  const { data, error } = Rules.safeParse(raw, { error: shapeError });
  const fields = fieldsOf(raw);
  const problems = [
    ...(error?.issues ?? []).map(({ path, message }) => [name, pathText(path), message].filter(Boolean).join(": ")),
    ...unknownFields(fields, FIELDS, name),
    ...unknownFields(fieldsOf(fields.required), REQUIRED_FIELDS, `${name}: required`),
  ];
  for (const [i, one] of textsOf(fields.deny)) addRead(verdict.deny, ruleFrom(one), problems, `${name}: deny[${i}]`);
  for (const [i, one] of textsOf(fields.allow))
    addRead(verdict.allow, allowanceFrom(one), problems, `${name}: allow[${i}]`);
  const { owners, "may-own": mayOwn } = data?.required ?? {};
  const required: Required = { ...(owners != null && { owners }), ...(mayOwn != null && { mayOwn }) };
  return { rules: { ...verdict, required }, problems };
};

const fieldsOf = (value: unknown): Json => (isObject(value) ? { ...value } : {});

/** The texts with their places in the list. Another check reports what is not a text. */
const textsOf = (value: unknown): [number, string][] =>
  (Array.isArray(value) ? [...value.entries()] : []).filter(
    (entry): entry is [number, string] => typeof entry[1] === "string",
  );

const unknownFields = (held: object, names: readonly string[], where: string): string[] =>
  Object.keys(held)
    .filter((name) => !names.includes(name))
    .map((name) => `${where}: ${name} is unknown${suggestion(name, names) || `; there are ${names.join(" and ")}`}`);

/** What differs between two files of rules, a line for each: `+ allow gains-owner@platform/release`. */
export const rulesDifference = (before: Verdict | undefined, after: Verdict | undefined): string[] => {
  const [was, is] = [linesOf(before), linesOf(after)];
  return [
    ...was.filter((line) => !is.includes(line)).map((line) => `- ${line}`),
    ...is.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
  ];
};

const linesOf = ({ deny, allow, required = {} }: Verdict = { deny: [], allow: [] }): string[] => [
  ...deny.map((rule) => `deny ${rule}`),
  ...allow.map((one) => `allow ${allowanceText(one)}`),
  ...(required.owners === undefined ? [] : [`required owners: ${required.owners}`]),
  ...(required.mayOwn === undefined ? [] : [`required may-own: ${required.mayOwn.join(", ") || "no identity"}`]),
];

// Which findings fail a review, which are excused, and what is required: as flags and a file of rules say it.

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
