// The only file that compiles and matches patterns of users. It uses RE2 through re2js (docs/internals/contract.md#d12), never the
// JavaScript engine, whose backtracking can take minutes.
import { RE2JS } from "re2js";

/** Most characters of a pattern. */
export const PATTERN_MAX = 1024;
const MAX_TEXT = 4096;

// RE2 is linear in program × text, and `(x{0,999}x{0,999}…)y` is a legal kilobyte of 200,000 instructions: 76 seconds on
// 4 KiB. A kilobyte of literals fits with room; the worst found below the bound takes 0.4 seconds.
const MAX_PROGRAM = 1200;

// Compiling is linear in the text, with two exceptions: a Unicode class is hundreds of ranges, and ignoring case folds a
// range character by character. Seventy times `[\x{100}-\x{10FFFF}]` takes two seconds. In instructions: the cost of a
// class, and how many characters are folded at the cost of one.
const CLASS_COST = 60;
const FOLDED = 50;

/** Steps of matching, instructions × characters, that one token may cost: about 0.1 seconds, whatever an identity stores. */
export interface Budget {
  steps: number;
}
export const newBudget = (): Budget => ({ steps: 4_000_000 });

/** The problem of a text as a pattern; undefined for a pattern. */
export const patternViolation = (pattern: string): string | undefined => {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    return `must be an RE2 pattern: ${(error as Error).message}`;
  }
};

/**
 * True when the pattern matches the whole text. One that does not compile, or is past the budget, matches nothing. It is
 * compiled once, when it is first needed: a token may have twenty audiences.
 */
export const patternMatcher = (pattern: string): ((text: string, budget?: Budget) => boolean) => {
  let compiled: RE2JS | undefined;
  return (text, budget = newBudget()) => {
    if (text.length > MAX_TEXT || !text.isWellFormed()) return false;
    try {
      compiled ??= compilePattern(pattern);
      budget.steps -= compiled.programSize() * text.length;
      return budget.steps >= 0 && compiled.testExact(text);
    } catch {
      // refused at create, and once more here
      return false;
    }
  };
};

/**
 * The pattern of a whole text. Compiles it alone first: `a)|(b` compiles only inside a group, with an alternative that no anchor holds.
 * Then inside a group: with plain `^` and `$`, the alternation of `a|b` is half anchored, and `evil-b` matches. A text that compiles only
 * alone (an open `\Q`) is refused, too.
 */
export const compilePattern = (pattern: string): RE2JS => {
  if (pattern === "") throw new TypeError("empty");
  if (pattern.length > PATTERN_MAX) throw new TypeError(`longer than ${PATTERN_MAX} characters`);
  if (programBound(pattern) > MAX_PROGRAM) throw new TypeError("repeats too much");
  if (classCost(pattern) > MAX_PROGRAM) throw new TypeError("has too many large classes of characters");
  RE2JS.compile(pattern);
  const whole = RE2JS.compile(`^(?:${pattern})$`);
  if (whole.programSize() > MAX_PROGRAM) throw new TypeError("repeats too much");
  return whole;
};

/** The parts of a pattern: escapes, quotes, classes, parentheses, counts and single characters. */
export const PATTERN_ATOM = /\\Q[\s\S]*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]|\{\d+(?:,\d*)?\}|[\s\S]/g;

/**
 * About how many instructions the pattern compiles to, from its text: compiling `(…){1000}` to find out would take most
 * of a second. Misreading it costs time, never a match.
 */
const programBound = (pattern: string): number => {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  for (const [atom] of pattern.matchAll(PATTERN_ATOM)) {
    if (atom === "(") {
      open.push(size);
      size = 0;
    } else if (atom === ")") {
      last = size;
      size += open.pop() ?? 0;
    } else if (/^\{\d/.test(atom)) {
      const repeated = last * Math.max(...atom.slice(1, -1).split(",").map(Number));
      size += repeated - last;
      last = repeated;
    } else {
      last = atom.startsWith("\\Q") ? atom.length : 1;
      size += last;
    }
  }
  return size;
};

/** Cost of compiling the classes of a pattern, in instructions. It counts the whole text: misreading a quote is harmless. */
const classCost = (pattern: string) => {
  const named = pattern.match(/\\p/gi)?.length ?? 0;
  if (!/\(\?[a-z]*i/i.test(pattern)) return named * CLASS_COST;
  const ends = [...pattern.matchAll(/-(?:\\x\{([0-9a-f]+)\}|([^\0-\x7f]))/giu)].map(([, hex, character]) =>
    hex === undefined ? (character?.codePointAt(0) as number) : Number.parseInt(hex, 16),
  );
  return named * CLASS_COST + ends.reduce((sum, end) => sum + end / FOLDED, 0);
};
