// The program of a pattern, as RE2 compiles it: an automaton whose steps read a character. It is the program that the exchange runs. So the
// syntax is not parsed twice: it covers flags, named classes, quotes, counts and anchors.
import { compilePattern, patternMatcher } from "../../schema/index.ts";

/** Pairs of the first and the last code point, in order. */
export type Ranges = readonly number[];

export type Instruction =
  | { kind: "split"; to: readonly [number, number] }
  | { kind: "skip"; to: number }
  /** continues if all of these hold: ASSERTION */
  | { kind: "assert"; flags: number; to: number }
  | { kind: "read"; ranges: Ranges; to: number }
  | { kind: "match" }
  | { kind: "fail" };

export interface Program {
  instructions: readonly Instruction[];
  start: number;
}

/** Conditions between two characters. The numbers come from RE2. */
export const ASSERTION = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, boundary: 16, noBoundary: 32 } as const;

const MAX_CODE_POINT = 0x10ffff;
const NEWLINE = 10;
const ZERO = 48;
/** The flag of a rune that ignores case. */
const FOLD_CASE = 1;

// The instructions of re2js 2.10.0, which package.json pins. Another number belongs to another version: no program.
const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  empty: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  rune1: 9,
  any: 10,
  line: 11,
};

interface Compiled {
  op: number;
  out: number;
  arg: number;
  runes: ArrayLike<number>;
}

/** undefined: it does not compile, or not to known instructions. */
export const programOf = (pattern: string): { program: Program; isMatch: (text: string) => boolean } | undefined => {
  try {
    const { inst, start } = compilePattern(pattern).re2().prog as { inst: Compiled[]; start: number };
    const instructions = inst.map(instructionFrom);
    const isMatch = patternMatcher(pattern);
    return { program: { instructions, start }, isMatch: (text) => isMatch(text) };
  } catch {
    // Another service may accept a pattern that the exchange refuses: the caller counts it as matching.
    return undefined;
  }
};

const instructionFrom = ({ op, out, arg, runes }: Compiled): Instruction => {
  switch (op) {
    case OP.alt:
    case OP.altMatch:
      return { kind: "split", to: [out, arg] };
    case OP.capture:
    case OP.nop:
      return { kind: "skip", to: out };
    case OP.empty:
      return { kind: "assert", flags: arg, to: out };
    case OP.fail:
      return { kind: "fail" };
    case OP.match:
      return { kind: "match" };
    case OP.rune:
    case OP.rune1:
      return { kind: "read", ranges: rangesOf(Array.from(runes), (arg & FOLD_CASE) !== 0), to: out };
    case OP.any:
      return { kind: "read", ranges: [0, MAX_CODE_POINT], to: out };
    case OP.line:
      return { kind: "read", ranges: [0, NEWLINE - 1, NEWLINE + 1, MAX_CODE_POINT], to: out };
    default:
      throw new TypeError(`unknown instruction ${op}`);
  }
};

const rangesOf = (runes: readonly number[], isFolded: boolean): Ranges => {
  const [only] = runes;
  if (runes.length !== 1 || only === undefined) return runes;
  return isFolded ? foldedRanges(only) : [only, only];
};

const FOLDED = new Map<number, Ranges>();

/** A character and its other cases: RE2 writes them out in a class. */
const foldedRanges = (character: number): Ranges => {
  const known = FOLDED.get(character);
  if (known) return known;
  // With a digit, which has no case: a class of one character in both cases would become a text again.
  const { inst } = compilePattern(`(?i)[0\\x{${character.toString(16)}}]`).re2().prog as { inst: Compiled[] };
  const [digit, zero, ...ranges] = Array.from(inst.find(({ op }) => op === OP.rune)?.runes ?? []);
  if (digit !== ZERO || zero !== ZERO || ranges.length < 2) throw new TypeError("a class that is not written out");
  FOLDED.set(character, ranges);
  return ranges;
};
