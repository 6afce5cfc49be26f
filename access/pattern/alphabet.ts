// Classes of characters that some languages distinguish: all characters of a class are in the same sets.
import { getOrInsert } from "../../schema/index.ts";
import { type Budget, spend } from "./budget.ts";
import type { Ranges } from "./program.ts";

export type Alphabet = ReturnType<typeof alphabetOf>;

const NEWLINE: Ranges = [10, 10];
/** RE2's word characters: 0-9, A-Z, _ and a-z. */
const WORD: Ranges = [48, 57, 65, 90, 95, 95, 97, 122];
/** Surrogates: no text that the exchange matches contains them. */
const SURROGATES = [0xd800, 0xdfff] as const;
const END = 0x110000;

const LIKED = [..."abcdefghijklmnopqrstuvwxyz0123456789-_./:@ ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map(
  (one) => one.codePointAt(0) as number,
);

type Piece = [first: number, last: number];

const exampleIn = (pieces: readonly Piece[]) => {
  const rank = LIKED.findIndex((one) => pieces.some(([first, last]) => first <= one && one <= last));
  if (rank >= 0) return { codePoint: LIKED[rank] as number, rank };
  const [printable = pieces[0]] = pieces.filter(([, last]) => last > 0x20);
  return { codePoint: (printable as Piece)[1], rank: LIKED.length };
};

export const alphabetOf = (given: Iterable<Ranges>, budget: Budget) => {
  const sets = new Map([NEWLINE, WORD, SURROGATES].map((ranges) => [ranges.join(), ranges]));
  for (const ranges of given) {
    spend(budget, ranges.length);
    sets.set(ranges.join(), ranges);
  }
  const changes = changesOf([...sets.values()], budget);
  const starts = [...changes.keys()].sort((a, b) => a - b);
  /** the pieces of each class, by the sets that contain it */
  const classes = new Map<string, Piece[]>();
  const inside = new Set<number>();
  const classAt = starts.map((first, i) => {
    for (const set of changes.get(first) ?? []) if (!inside.delete(set)) inside.add(set);
    spend(budget, 1 + inside.size);
    const own = getOrInsert(classes, [...inside].sort((a, b) => a - b).join(), () => []);
    own.push([first, (starts[i + 1] ?? END) - 1]);
    return own;
  });
  // Classes of surrogates are not part of the alphabet. The first classes are the most readable in an example.
  const order = [...classes.values()]
    .filter(([[first] = [0]]) => first < SURROGATES[0] || first > SURROGATES[1])
    .map((own) => ({ own, ...exampleIn(own) }))
    .sort((a, b) => a.rank - b.rank);
  const numbers = new Map(order.map(({ own }, number) => [own, number]));
  const symbols = classAt.map((own) => numbers.get(own) ?? -1);
  const indexOf = (codePoint: number) => starts.findLastIndex((first) => first <= codePoint);

  const known = new Map<string, ReadonlySet<number>>();
  const symbolsIn = (ranges: Ranges) =>
    getOrInsert(known, ranges.join(), () => {
      const found = new Set<number>();
      for (let i = 0; i < ranges.length; i += 2)
        for (let at = indexOf(ranges[i] as number); (starts[at] ?? END) <= (ranges[i + 1] as number); at += 1)
          found.add(symbols[at] as number);
      found.delete(-1);
      return found;
    });
  const [newlines, words] = [symbolsIn(NEWLINE), symbolsIn(WORD)];
  return {
    size: order.length,
    /** a character of the class, for an example */
    example: (symbol: number) => String.fromCodePoint(order[symbol]?.codePoint as number),
    /** number of characters in the class */
    width: (symbol: number) => order[symbol]?.own.reduce((sum, [first, last]) => sum + last - first + 1, 0) ?? 0,
    /** the class of a code point */
    symbolOf: (codePoint: number) => symbols[indexOf(codePoint)] as number,
    /** the classes of these ranges, which must be among the given sets */
    symbolsIn,
    isNewline: (symbol: number) => newlines.has(symbol),
    isWord: (symbol: number) => words.has(symbol),
  };
};

/** Where each set begins and ends, by code point. */
const changesOf = (sets: readonly Ranges[], budget: Budget): Map<number, number[]> => {
  const changes = new Map<number, number[]>([[0, []]]);
  const change = (codePoint: number, set: number) => {
    if (codePoint >= END) return;
    getOrInsert(changes, codePoint, () => []).push(set);
  };
  for (const [set, ranges] of sets.entries()) {
    spend(budget, ranges.length);
    for (let i = 0; i < ranges.length; i += 2) {
      change(ranges[i] as number, set);
      change((ranges[i + 1] as number) + 1, set);
    }
  }
  return changes;
};
