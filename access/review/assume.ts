// Who can assume an identity: its relationship in words, with examples for each pattern.

import { createHash } from "node:crypto";
import { type Json, patternMatcher, printable } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { findText } from "../pattern/decide.ts";
import { every, type Language, matching, not, small, text } from "../pattern/language.ts";
import { type Instruction, type Program, programOf, type Ranges } from "../pattern/program.ts";
import { joinWithAnd, quote } from "../text.ts";
import { CUSTOMERS, namesIn } from "../workload/customer.ts";
import type { Assumption, PatternExamples } from "./report.ts";

// Subjects of several customers that a pattern accepts, one of each: they show the reader who else is let in.

const OUTSIDERS_SHOWN = 2;

/** The place of customers' names, and subjects as people know them. */
const PLAUSIBLE: Readonly<Record<string, readonly string[]>> = {
  GitHub: [
    "NAME(?:@[0-9]+)?/(?:images|shop|x)(?:@[0-9]+)?:(?:ref:refs/heads/main|pull_request|environment:prod|ref:refs/tags/v1)",
    "NAME(?:@[0-9]+)?/(?s:.*)",
  ],
  GitLab: ["NAME:ref_type:branch:ref:main", "NAME:(?s:.*)"],
  Buildkite: ["NAME:pipeline:images:ref:refs/heads/main:commit:1:step:build", "NAME:(?s:.*)"],
};

/** At most two examples. None if the pattern lets in only one customer, or if that could not be decided. */
const exampleOutsiders = (subject: Language, budget: Budget): string[] => {
  for (const customers of CUSTOMERS) {
    const forms = PLAUSIBLE[customers.service];
    const [place] = customers.places;
    if (forms === undefined || place === undefined) continue;
    // Case does not distinguish names.
    let names = every(small(namesIn({ kind: "token", issuer: subject, subject, claims: new Map() }, customers)), SAFE);
    const found: string[] = [];
    while (found.length < OUTSIDERS_SHOWN) {
      const name = outsiderIn(names, budget);
      if (name === undefined) break;
      names = every(names, not(text(name)));
      for (const form of forms) {
        const example = findText(
          every(subject, matching(place[0] + form.replace("NAME", `(?i:${name.replaceAll(".", "\\.")})`))),
          budget,
        );
        if (example.is !== "found") continue;
        found.push(example.text);
        break;
      }
    }
    if (found.length > 1) return found;
  }
  return [];
};

/** Texts without characters that have a meaning in a pattern. */
const SAFE = matching("[a-z0-9/_.-]+");

const outsiderIn = (names: Language, budget: Budget) => {
  for (const language of [every(names, text("someone-else")), names]) {
    const found = findText(language, budget);
    if (found.is === "found") return found.text;
  }
  return undefined;
};

// Examples for a pattern: claims that it matches, and near ones that it does not. Each is tested with the matcher of the API.

const SHOWN = 3;
const WALK_BITS = 6;
const WALKS = 2 ** WALK_BITS;
const LONGEST = 300;

// Texts that a wildcard may stand for in the claims of a CI or a cloud.
const FILLERS = [
  "main",
  "images",
  "charts",
  "other-1",
  "ref:refs/heads/main",
  "pull_request",
  "ref:refs/tags/v1",
  "environment:prod",
  "repo:other/images:ref:refs/heads/main",
  "7",
  "images@7",
  "charts@8",
  "other-1@9",
];
const CHARACTERS = "xa1A-_./: @";

/** `budget`: steps for finding other workloads that the pattern lets in. */
export const examplesOf = (claim: string, pattern: string, budget?: Budget): PatternExamples => {
  const isMatch = patternMatcher(pattern);
  const derived = [...new Set(textsOf(pattern))].filter((text) => isMatch(text));
  const [first, ...others] = [...derived.filter(isPlausible), ...derived.filter((text) => !isPlausible(text))];
  // Examples of one owner must not hide that others can also assume the identity.
  const strangers = budget && claim === "subject" ? exampleOutsiders(matching(pattern), budget) : [];
  const texts = [first, ...strangers.filter((text) => !isOfSame(text, first)), ...others].filter(
    (text) => text !== undefined,
  );
  const matches = [...new Set(texts.length > 0 ? texts : anyOf(pattern, budget))].slice(0, SHOWN);
  const near = matches.flatMap(neighboursOf).filter((text) => text !== "" && !isMatch(text));
  return { claim, pattern, matches, differs: [...new Set(near)].slice(0, SHOWN) };
};

/** An example if no walk found a text. */
const anyOf = (pattern: string, budget: Budget | undefined) => {
  const found = budget && findText(matching(pattern), budget);
  return found?.is === "found" ? [found.text] : [];
};

const OWNER = /^(?:repo|project_path|organization):[^/:@]+/i;

const isOfSame = (text: string, first = "") => text.match(OWNER)?.[0] === first.match(OWNER)?.[0];

// A subject in the form of GitHub and GitLab: https://docs.github.com/actions/reference/security/oidc
const SUBJECT =
  /^(?:repo:(?:[^/:@]+\/(?!pull_request|main:)[^/:@]+|[^/:@]+@\d+\/[^/:@]+@\d+):(?:ref:refs\/(?:heads|tags)\/[^/:]+|pull_request|environment:\w+)|project_path:[^:]+:ref_type:(?:branch|tag):ref:[^/:]+)$/;

const isPlausible = (text: string) => SUBJECT.test(text);

/** Texts of walks through the pattern's program. Each walk takes other turns; a walk into a dead end has no text. */
const textsOf = (pattern: string) => {
  const { program } = programOf(pattern) ?? {};
  return program ? Array.from({ length: WALKS }, (_, turn) => textOfWalk(program, turn) ?? []).flat() : [];
};

const textOfWalk = ({ instructions, start }: Program, turn: number): string | undefined => {
  let text = "";
  let splits = 0;
  for (let at = start; text.length <= LONGEST && splits <= LONGEST; ) {
    const one = instructions[at] as Instruction;
    if (one.kind === "match") return text;
    if (one.kind === "fail") return undefined;
    const loop = loopAt(instructions, at);
    if (loop) {
      const texts = [...FILLERS.filter((own) => isOf(loop.ranges, own)), exampleOf(loop.ranges)];
      if (one.kind === "split") texts.push("");
      text += texts[turn % texts.length];
      at = loop.exit;
    } else if (one.kind === "split") {
      at = one.to[(turn >> (splits % WALK_BITS)) & 1] as number;
      splits += 1;
    } else {
      if (one.kind === "read") text += exampleOf(one.ranges);
      at = one.to;
    }
  }
  return undefined;
};

/** The characters of a class that may be repeated without end, as in `.*` or `[^/]+`, and the instruction after it. */
const loopAt = (instructions: Program["instructions"], at: number): { ranges: Ranges; exit: number } | undefined => {
  const instruction = instructions[at];
  const splitAt = instruction?.kind === "read" ? instruction.to : at;
  const split = instructions[splitAt];
  if (split?.kind !== "split") return undefined;
  const [read, exit] = split.to.toSorted(
    (a, b) => Number(isReadTo(instructions[b], splitAt)) - Number(isReadTo(instructions[a], splitAt)),
  );
  const loop = instructions[read as number];
  return isReadTo(loop, splitAt) && (instruction === split || instruction === loop)
    ? { ranges: loop.ranges, exit: exit as number }
    : undefined;
};

const isReadTo = (one: Instruction | undefined, at: number): one is Extract<Instruction, { kind: "read" }> =>
  one?.kind === "read" && one.to === at;

const isOf = (ranges: Ranges, text: string) =>
  [...text].every((one) => {
    const codePoint = one.codePointAt(0) as number;
    return ranges.some((first, i) => i % 2 === 0 && first <= codePoint && codePoint <= (ranges[i + 1] as number));
  });

const exampleOf = (ranges: Ranges) =>
  [...CHARACTERS].find((one) => isOf(ranges, one)) ?? String.fromCodePoint(ranges.at(-2) as number);

/** Texts that a reader might confuse with this one: one part more, another name, another kind. */
const neighboursOf = (text: string) => [
  text.replace(/ref:refs\/heads\/[^:]*/, "pull_request"),
  text.replace(/refs\/heads\/[^:]*/, "refs/heads/other"),
  text.replace(/(repo:|project_path:)([^/:@]+)(@\d+)?\//, "$1$2-evil$3/"),
  text.replace(/\/([^/:@]+)(@\d+)?:/, "/$1-fork$2:"),
  text.replace(/refs\/heads\//, "refs/tags/"),
  `${text}-other`,
  `other-${text}`,
  text.slice(0, -1),
];

/** Null: nothing is known about it. */
export const assumptionOf = (relationship: Json | null, budget?: Budget): Assumption | null => {
  if (relationship === null) return null;
  const { claimMatch, staticKeys, awsIdentity, servicePrincipal } = relationship as Record<string, Json | undefined>;
  if (claimMatch) return fromClaims(claimMatch, budget);
  if (staticKeys) return { text: keysText(staticKeys), patterns: [] };
  if (awsIdentity) return fromAws(awsIdentity);
  if (servicePrincipal)
    return { text: `the platform's own service ${printable(String(servicePrincipal))}`, patterns: [] };
  return { text: `a caller that satisfies ${printable(JSON.stringify(relationship))}`, patterns: [] };
};

const CLAIMS = { issuer: "issuer", subject: "subject", audience: "audience" };

/** Fields with a value or a pattern. `words`: the word for each. */
const fieldsIn = (match: Json, words: Readonly<Record<string, string>>, budget?: Budget) => {
  const patterns: PatternExamples[] = [];
  const parts = Object.entries(words).flatMap(([name, word]) => {
    if (match[name]) return [`${word} ${quote(match[name])}`];
    const pattern = match[`${name}Pattern`];
    if (!pattern) return [];
    patterns.push(examplesOf(name, String(pattern), budget));
    return [`${word} matching ${quote(pattern)}`];
  });
  return { parts, patterns };
};

const fromClaims = (match: Json, budget: Budget | undefined): Assumption => {
  const { parts, patterns } = fieldsIn(match, CLAIMS, budget);
  for (const [claim, value] of Object.entries((match.claims ?? {}) as Json))
    parts.push(`${claimName(claim)} ${quote(value)}`);
  for (const [claim, pattern] of Object.entries((match.claimPatterns ?? {}) as Json)) {
    patterns.push(examplesOf(claim, String(pattern)));
    parts.push(`${claimName(claim)} matching ${quote(pattern)}`);
  }
  return { text: `a workload whose token has ${joinWithAnd(parts)}`, patterns };
};

/** Quoted if it could be read as more than a name, or as a part that is not a claim. */
const claimName = (claim: string) => (PLAIN_NAME.test(claim) && !Object.hasOwn(CLAIMS, claim) ? claim : quote(claim));

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.:/-]*$/;

const keysText = ({ issuer, subject, expirationTime, issuerKeys }: Json) => {
  const print = issuerKeys ? ` (SHA-256 ${fingerprint(String(issuerKeys))}…)` : "";
  const until = expirationTime ? `, until ${printable(String(expirationTime))}` : "";
  return `a workload that signs with one of the identity's own keys${print}, as issuer ${quote(issuer)} and subject ${quote(subject)}${until}`;
};

/** Distinguishes keys of one issuer and subject. */
export const fingerprint = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const fromAws = (aws: Json) => {
  const { parts, patterns } = fieldsIn(aws, { arn: "ARN", userId: "user id" });
  const account = printable(String(aws.awsAccount));
  return { text: `an AWS principal of account ${account} with ${joinWithAnd(parts)}`, patterns };
};
