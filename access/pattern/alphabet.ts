// The characters that some languages tell apart, in classes: all characters of a class are in the same sets.
import { type Budget, spend } from "./budget.ts";
import type { Ranges } from "./program.ts";

export interface Alphabet {
  size: number;
  /** a character of the class, for an example */
  example(symbol: number): string;
  /** how many characters are in it */
  width(symbol: number): number;
  /** the class of a code point */
  symbolOf(codePoint: number): number;
  /** the classes of which these ranges consist; they were given to `alphabetOf` */
  symbolsIn(ranges: Ranges): ReadonlySet<number>;
  isNewline(symbol: number): boolean;
  isWord(symbol: number): boolean;
}

const NEWLINE: Ranges = [10, 10];
/** RE2's word characters: 0-9, A-Z, _ and a-z. */
const WORD: Ranges = [48, 57, 65, 90, 95, 95, 97, 122];
/** Halves of characters: in no text that the exchange matches. */
const SURROGATES: Ranges = [0xd800, 0xdfff];
const END = 0x110000;

const LIKED = [..."abcdefghijklmnopqrstuvwxyz0123456789-_./:@ ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map(
  (one) => one.codePointAt(0) as number,
);

type Piece = [first: number, last: number];

const exampleIn = (pieces: readonly Piece[]): { codePoint: number; rank: number } => {
  const rank = LIKED.findIndex((one) => pieces.some(([first, last]) => first <= one && one <= last));
  if (rank >= 0) return { codePoint: LIKED[rank] as number, rank };
  const [printable = pieces[0]] = pieces.filter(([, last]) => last > 0x20);
  return { codePoint: (printable as Piece)[1], rank: LIKED.length };
};

export const alphabetOf = (given: Iterable<Ranges>, budget: Budget): Alphabet => {
  const sets = new Map<string, Ranges>();
  for (const ranges of [NEWLINE, WORD, SURROGATES]) sets.set(ranges.join(), ranges);
  for (const ranges of given) {
    spend(budget, ranges.length);
    sets.set(ranges.join(), ranges);
  }
  const changes = changesOf([...sets.values()], budget);
  const borders = [...changes.keys()].sort((a, b) => a - b);

  const symbols = new Map<string, number>();
  const members: number[][] = [];
  const pieces: Piece[][] = [];
  const starts: number[] = [];
  const symbolAt: number[] = [];
  const inside = new Set<number>();
  for (const [i, first] of borders.entries()) {
    for (const set of changes.get(first) ?? []) if (!inside.delete(set)) inside.add(set);
    spend(budget, 1 + inside.size);
    const sorted = [...inside].sort((a, b) => a - b);
    const key = sorted.join();
    const symbol = symbols.get(key) ?? symbols.size;
    if (symbol === symbols.size) {
      symbols.set(key, symbol);
      members.push(sorted);
      pieces.push([]);
    }
    (pieces[symbol] as Piece[]).push([first, (borders[i + 1] ?? END) - 1]);
    starts.push(first);
    symbolAt.push(symbol);
  }

  const indexOf = new Map([...sets.keys()].map((key, index) => [key, index]));
  const classes = [...sets].map(() => new Set<number>());
  for (const [symbol, own] of members.entries()) for (const set of own) classes[set]?.add(symbol);
  const symbolsIn = (ranges: Ranges) => classes[indexOf.get(ranges.join()) as number] as ReadonlySet<number>;
  const newline = symbolsIn(NEWLINE);
  const word = symbolsIn(WORD);
  const isHalf = symbolsIn(SURROGATES);
  const symbolOf = (codePoint: number): number => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const at = (low + high) >> 1;
      if ((starts[at] as number) <= codePoint) low = at;
      else high = at;
    }
    return symbolAt[low] as number;
  };
  // Classes of halves are not part of the alphabet. The first classes are those that read best in an example.
  const ranked = pieces.flatMap((own, symbol) => (isHalf.has(symbol) ? [] : [{ symbol, own, ...exampleIn(own) }]));
  const order = ranked.sort((a, b) => a.rank - b.rank);
  const numbers = new Map(order.map(({ symbol }, number) => [symbol, number]));
  const renumber = (own: ReadonlySet<number>): ReadonlySet<number> =>
    new Set([...own].flatMap((symbol) => numbers.get(symbol) ?? []));
  const [newlines, words] = [renumber(newline), renumber(word)];
  return {
    size: order.length,
    example: (symbol) => String.fromCodePoint(order[symbol]?.codePoint as number),
    width: (symbol) => order[symbol]?.own.reduce((sum, [first, last]) => sum + last - first + 1, 0) ?? 0,
    symbolOf: (codePoint) => numbers.get(symbolOf(codePoint)) ?? -1,
    symbolsIn: (ranges) => renumber(symbolsIn(ranges)),
    isNewline: (symbol) => newlines.has(symbol),
    isWord: (symbol) => words.has(symbol),
  };
};

/** Where each set begins and ends, by code point. */
const changesOf = (sets: readonly Ranges[], budget: Budget): Map<number, number[]> => {
  const changes = new Map<number, number[]>([[0, []]]);
  const change = (codePoint: number, set: number): void => {
    if (codePoint >= END) return;
    const setsThere = changes.get(codePoint);
    if (setsThere) setsThere.push(set);
    else changes.set(codePoint, [set]);
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
