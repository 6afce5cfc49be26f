// Random patterns: of the whole syntax of RE2, and near to what people write for the subjects of a CI.
import { patternMatcher } from "../../schema/index.ts";
import type { Random } from "../support/random.ts";

const CHARACTERS = ["a", "b", "k", "s", "é", ":", "-", "1", "\\.", "😀"];
const CLASSES = String.raw`[a-k] [^a] [[:alpha:]] [\w-] [^\n] \d \w \W \s \S \pL \PL \p{Lu}`.split(" ");
const ANCHORS = ["^", "$", "\\b", "\\B", "\\A", "\\z"];
const CODES = ["\\Qa.b\\E", "\\x61", "\\x{6b}", "\\141"];
const FLAGS = ["(?i)", "(?s)", "(?m)", "(?U)", "(?i-s)"];
const OPENS = ["(", "(?:", "(?i:", "(?ms:", "(?P<name>"];
const COUNTS = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?"];

/** Of the whole syntax; not each is a pattern. */
export const anyPattern = (random: Random, depth = 3): string => {
  const atom = (): string => {
    const kind = random.below(depth > 0 ? 14 : 10);
    if (kind < 4) return random.pick(CHARACTERS) + counted();
    if (kind === 4) return `.${counted()}`;
    if (kind < 7) return random.pick(CLASSES) + counted();
    if (kind === 7) return random.pick(ANCHORS);
    if (kind === 8) return random.pick(CODES);
    if (kind === 9) return random.pick(FLAGS);
    return `${random.pick(OPENS)}${anyPattern(random, depth - 1)})${counted()}`;
  };
  const counted = (): string => (random.below(3) === 0 ? random.pick(COUNTS) : "");
  const sequence = (): string => Array.from({ length: random.below(5) }, atom).join("");
  return random.below(4) === 0 ? `${sequence()}|${sequence()}` : sequence();
};

const OWNERS = ["acme", "evil", "a"];
const NAMES = ["images", "shop", "x"];
const CONTEXTS = [
  "pull_request",
  "ref:refs/pull/7/merge",
  "ref:refs/heads/main",
  "ref:refs/heads/release/1",
  "ref:refs/tags/v1",
  "environment:prod",
  "job_workflow_ref:acme/ci/x.yml@refs/heads/main",
];

export const subject = (random: Random): string =>
  `repo:${random.pick(OWNERS)}/${random.pick(NAMES)}:${random.pick(CONTEXTS)}`;

const LOOSE = [".", ".*", "[^/:]*", "[^:]+", "\\w+", "(?i:A)", "[a-z/]*", "(acme|evil)", "\\S*", "\\pL*", "(?s).", ""];

/** A subject, of which parts are replaced by what matches more. */
export const subjectPattern = (random: Random): string => {
  const parts = subject(random)
    .replace(/[.+?]/g, "\\$&")
    .split(/(?<=[/:_])|(?=[/:_])/);
  const loosened = parts.map((part) => (random.below(4) === 0 ? random.pick(LOOSE) : part)).join("");
  const own = random.below(3) === 0 ? `${loosened}|${subject(random)}` : loosened;
  return random.below(6) === 0 ? `(?i)${own}` : own;
};

/** Characters of patterns and their neighbours. */
const LETTERS = ["a", "b", "k", "K", "s", "S", "é", "\n", "-", ":", "1", "_", "ſ", "\u212a", "😀"];

export const anyText = (random: Random): string =>
  Array.from({ length: random.below(6) }, () => random.pick(LETTERS)).join("");

export const isMatch = (pattern: string, text: string): boolean => patternMatcher(pattern)(text);
