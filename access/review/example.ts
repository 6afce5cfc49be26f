// Examples for a pattern: claims that it matches, and near ones that it does not. Each is tested with the matcher of the API.
import { patternMatcher } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { findText } from "../pattern/decide.ts";
import { matching } from "../pattern/language.ts";
import { strangersIn } from "../workload/stranger.ts";
import { type PatternNode, patternTree } from "./pattern-tree.ts";
import type { PatternExamples } from "./report.ts";

const SHOWN = 3;
/** Most texts that are derived from one part of a pattern: choices multiply. */
const MOST = 24;
const LONGEST = 300;
/** Repetitions without a limit: as pattern-tree.ts has them. */
const MANY = 3;

// What a wildcard may stand for in the claims of a CI or a cloud.
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
];
const CHARACTERS = "xa1A-_./: @";

/** `budget`: may be spent on finding whom the pattern lets in besides. */
export const examplesOf = (claim: string, pattern: string, budget?: Budget): PatternExamples => {
  const isMatch = patternMatcher(pattern);
  const derived = [...new Set(textsOf(pattern))].filter((text) => isMatch(text));
  const [first, ...others] = [...derived.filter(isPlausible), ...derived.filter((text) => !isPlausible(text))];
  // Examples of one owner must not hide that others can assume the identity too.
  const strangers = budget && claim === "subject" ? strangersIn(matching(pattern), budget) : [];
  const texts = [first, ...strangers.filter((text) => !isOfSame(text, first)), ...others].filter(
    (text) => text !== undefined,
  );
  const matches = [...new Set(texts.length > 0 ? texts : anyOf(pattern, budget))].slice(0, SHOWN);
  const near = matches.flatMap(neighboursOf).filter((text) => text !== "" && !isMatch(text));
  return { claim, pattern, matches, differs: [...new Set(near)].slice(0, SHOWN) };
};

/** Of a pattern whose syntax is not read here. */
const anyOf = (pattern: string, budget: Budget | undefined): string[] => {
  const found = budget && findText(matching(pattern), budget);
  return found?.is === "found" ? [found.text] : [];
};

const OWNER = /^(?:repo|project_path|organization):[^/:@]+/i;

const isOfSame = (text: string, first = ""): boolean => text.match(OWNER)?.[0] === first.match(OWNER)?.[0];

// A subject as GitHub and GitLab write it: https://docs.github.com/actions/reference/security/oidc
const SUBJECT =
  /^(?:repo:[^/:]+\/(?!pull_request|main:)[^/:]+:(?:ref:refs\/(?:heads|tags)\/[^/:]+|pull_request|environment:\w+)|project_path:[^:]+:ref_type:(?:branch|tag):ref:[^/:]+)$/;

const isPlausible = (text: string): boolean => SUBJECT.test(text);

/** Texts that the pattern probably matches. */
export const textsOf = (pattern: string): string[] => {
  const tree = patternTree(pattern);
  return tree ? textsFrom(tree).filter((text) => text.length <= LONGEST) : [];
};

const textsFrom = (node: PatternNode): string[] => {
  switch (node.kind) {
    case "text":
      return [node.text];
    case "any":
      return [...CHARACTERS].filter(node.accepts).slice(0, 4);
    case "choice":
      return node.options.flatMap((option) => textsFrom(option)).slice(0, MOST);
    case "sequence":
      return node.parts.reduce<string[]>((heads, part) => joined(heads, textsFrom(part)), [""]);
    case "repeat":
      return repeated(node);
  }
};

/** Each of the longer list at least once, while there is room. */
const joined = (heads: readonly string[], tails: readonly string[]): string[] => {
  if (heads.length * tails.length <= MOST) return heads.flatMap((head) => tails.map((tail) => head + tail));
  const count = Math.min(MOST, Math.max(heads.length, tails.length));
  return Array.from({ length: count }, (_, i) => `${heads[i % heads.length] ?? ""}${tails[i % tails.length] ?? ""}`);
};

const repeated = ({ of, least, most }: Extract<PatternNode, { kind: "repeat" }>): string[] => {
  if (of.kind === "any") {
    const fits = FILLERS.filter(
      (text) =>
        text.length >= least &&
        (most > MANY || most - least >= MANY || text.length <= most) &&
        [...text].every(of.accepts),
    );
    const [one = ""] = [...CHARACTERS].filter(of.accepts);
    const own = one.repeat(Math.max(least, Math.min(1, most)));
    return [...fits, own, ...(least === 0 ? [""] : [])];
  }
  const texts = textsFrom(of);
  const counts = [...new Set([Math.max(least, Math.min(1, most)), least])].filter((count) => count * LONGEST < 100_000);
  return counts.flatMap((count) => texts.map((text) => text.repeat(count))).slice(0, MOST);
};

/** Texts that a reader might take for the same: one thing more, another name, another kind. */
const neighboursOf = (text: string): string[] => [
  text.replace(/ref:refs\/heads\/[^:]*/, "pull_request"),
  text.replace(/refs\/heads\/[^:]*/, "refs/heads/other"),
  text.replace(/(repo:|project_path:)([^/:]+)\//, "$1$2-evil/"),
  text.replace(/\/([^/:]+):/, "/$1-fork:"),
  text.replace(/refs\/heads\//, "refs/tags/"),
  `${text}-other`,
  `other-${text}`,
  text.slice(0, -1),
];
