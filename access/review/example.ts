// Examples for a pattern: claims that it matches, and near ones that it does not. Each is tested with the matcher of the API.
import { patternMatcher } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { findText } from "../pattern/decide.ts";
import { matching } from "../pattern/language.ts";
import { type Instruction, type Program, programOf, type Ranges } from "../pattern/program.ts";
import { strangersIn } from "../workload/stranger.ts";
import type { PatternExamples } from "./report.ts";

const SHOWN = 3;
const WALK_BITS = 6;
const WALKS = 2 ** WALK_BITS;
const LONGEST = 300;

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
  "images@7",
  "charts@8",
  "other-1@9",
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

/** Where no walk found a text. */
const anyOf = (pattern: string, budget: Budget | undefined): string[] => {
  const found = budget && findText(matching(pattern), budget);
  return found?.is === "found" ? [found.text] : [];
};

const OWNER = /^(?:repo|project_path|organization):[^/:@]+/i;

const isOfSame = (text: string, first = ""): boolean => text.match(OWNER)?.[0] === first.match(OWNER)?.[0];

// A subject as GitHub and GitLab write it: https://docs.github.com/actions/reference/security/oidc
const SUBJECT =
  /^(?:repo:(?:[^/:@]+\/(?!pull_request|main:)[^/:@]+|[^/:@]+@\d+\/[^/:@]+@\d+):(?:ref:refs\/(?:heads|tags)\/[^/:]+|pull_request|environment:\w+)|project_path:[^:]+:ref_type:(?:branch|tag):ref:[^/:]+)$/;

const isPlausible = (text: string): boolean => SUBJECT.test(text);

/** Texts of walks through the pattern's program. Each walk takes other turns; where one leads nowhere, there is no text. */
const textsOf = (pattern: string): string[] => {
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

/** The characters of a class that may be repeated without end, as `.*` or `[^/]+`, and the instruction behind it. */
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

const isOf = (ranges: Ranges, text: string): boolean =>
  [...text].every((one) => {
    const codePoint = one.codePointAt(0) as number;
    return ranges.some((first, i) => i % 2 === 0 && first <= codePoint && codePoint <= (ranges[i + 1] as number));
  });

const exampleOf = (ranges: Ranges): string =>
  [...CHARACTERS].find((one) => isOf(ranges, one)) ?? String.fromCodePoint(ranges.at(-2) as number);

/** Texts that a reader might take for the same: one thing more, another name, another kind. */
const neighboursOf = (text: string): string[] => [
  text.replace(/ref:refs\/heads\/[^:]*/, "pull_request"),
  text.replace(/refs\/heads\/[^:]*/, "refs/heads/other"),
  text.replace(/(repo:|project_path:)([^/:@]+)(@\d+)?\//, "$1$2-evil$3/"),
  text.replace(/\/([^/:@]+)(@\d+)?:/, "/$1-fork$2:"),
  text.replace(/refs\/heads\//, "refs/tags/"),
  `${text}-other`,
  `other-${text}`,
  text.slice(0, -1),
];
