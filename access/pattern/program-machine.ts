// The program of a pattern as a deterministic automaton: a state is the set of instructions that the text may have led to.
import { spend } from "./budget.ts";
import { ASSERTION, type Program } from "./program.ts";
import { type Context, type Machine, numbersOf } from "./state.ts";

// The kind of the character before a state: it decides which assertions hold.
const BEGIN = 0;
const NEWLINE = 1;
const WORD = 2;
const OTHER = 3;

interface Place {
  /** instructions that the last character led to */
  at: readonly number[];
  before: number;
}

export const programMachine = ({ instructions, start }: Program, { alphabet, budget }: Context): Machine => {
  const reads = instructions.map((one) => (one.kind === "read" ? alphabet.symbolsIn(one.ranges) : undefined));
  const asserted = instructions.reduce((sum, one) => (one.kind === "assert" ? sum | one.flags : sum), 0);
  const isLineAsserted = (asserted & (ASSERTION.beginLine | ASSERTION.endLine)) !== 0;
  const isWordAsserted = (asserted & (ASSERTION.boundary | ASSERTION.noBoundary)) !== 0;
  const { states, numberOf } = numbersOf<Place>(({ at, before }) => `${before} ${at.join()}`, budget);
  const placeAt = (state: number) => states[state] as Place;

  const beforeNext = (symbol: number): number => {
    if (isLineAsserted && alphabet.isNewline(symbol)) return NEWLINE;
    return isWordAsserted && alphabet.isWord(symbol) ? WORD : OTHER;
  };
  /** `next`: the following character; undefined at the end */
  const flagsAt = ({ before }: Place, next: number | undefined): number => {
    const isWord = next !== undefined && isWordAsserted && alphabet.isWord(next);
    let flags: number = isWord === (before === WORD) ? ASSERTION.noBoundary : ASSERTION.boundary;
    if (before === BEGIN) flags |= ASSERTION.beginText | ASSERTION.beginLine;
    if (before === NEWLINE) flags |= ASSERTION.beginLine;
    if (next === undefined) flags |= ASSERTION.endText | ASSERTION.endLine;
    else if (alphabet.isNewline(next)) flags |= ASSERTION.endLine;
    return flags;
  };
  /** Every instruction that is reachable without reading a character. */
  const closureOf = (at: readonly number[], flags: number): Set<number> => {
    const found = new Set(at);
    for (const one of found) {
      spend(budget, 1);
      const instruction = instructions[one];
      if (instruction?.kind === "split") for (const to of instruction.to) found.add(to);
      if (instruction?.kind === "skip") found.add(instruction.to);
      if (instruction?.kind === "assert" && (instruction.flags & ~flags) === 0) found.add(instruction.to);
    }
    return found;
  };
  // The symbols grouped by the assertions that hold before them.
  const alike = Map.groupBy(
    Array.from({ length: alphabet.size }, (_, symbol) => symbol),
    (symbol) => flagsAt({ at: [], before: OTHER }, symbol),
  );
  const groups = [...alike.values()].map((symbols) => ({ first: symbols[0] as number, symbols: new Set(symbols) }));
  const rowOf = (state: number): Int32Array => {
    const place = placeAt(state);
    const next: number[][] = [];
    for (const { first, symbols } of groups)
      for (const one of closureOf(place.at, flagsAt(place, first))) {
        const instruction = instructions[one];
        if (instruction?.kind !== "read") continue;
        const symbolsRead = reads[one] as ReadonlySet<number>;
        spend(budget, symbolsRead.size);
        for (const symbol of symbolsRead)
          if (symbols.has(symbol)) {
            next[symbol] ??= [];
            next[symbol].push(instruction.to);
          }
      }
    const row = new Int32Array(alphabet.size).fill(dead);
    for (const [symbol, at] of next.entries())
      if (at) row[symbol] = numberOf({ at: [...new Set(at)].sort((a, b) => a - b), before: beforeNext(symbol) });
    return row;
  };
  const dead = numberOf({ at: [], before: OTHER });
  const rows: Int32Array[] = [];
  const ends: boolean[] = [];
  return {
    start: numberOf({ at: [start], before: BEGIN }),
    step: (state, symbol) => {
      rows[state] ??= rowOf(state);
      return rows[state][symbol] as number;
    },
    accepts: (state) => {
      ends[state] ??= [...closureOf(placeAt(state).at, flagsAt(placeAt(state), undefined))].some(
        (one) => instructions[one]?.kind === "match",
      );
      return ends[state];
    },
    isDead: (state) => state === dead,
  };
};
