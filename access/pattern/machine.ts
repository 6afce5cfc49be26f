// A language as a deterministic automaton, whose states are created when they are first reached.
import { getOrInsert } from "../../schema/index.ts";
import type { Alphabet } from "./alphabet.ts";
import { type Budget, spend } from "./budget.ts";
import { type Language, partsOf } from "./language.ts";
import { ASSERTION, type Program, type Ranges } from "./program.ts";

/** The sets of characters that a language distinguishes. */
export function* setsIn(language: Language): Generator<Ranges> {
  if (language.kind === "pattern")
    for (const one of language.program.instructions) if (one.kind === "read") yield one.ranges;
  if (language.kind === "text") yield* charactersOf(language.text);
  if (language.kind === "small") yield* charactersOf(`${LETTERS}${LETTERS.toUpperCase()}`);
  for (const part of partsOf(language)) yield* setsIn(part);
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const codePointsOf = (text: string) => [...text].map((one) => one.codePointAt(0) as number);

const charactersOf = (text: string) => [...new Set(codePointsOf(text))].map((one) => [one, one]);

export const machineOf = (language: Language, context: Context): Machine => {
  switch (language.kind) {
    case "pattern":
      return programMachine(language.program, context);
    case "text":
      return textMachine(language.text, context);
    case "every":
      return productMachine(machinesOf(language, context), context, "every");
    case "some":
      return productMachine(machinesOf(language, context), context, "some");
    case "not": {
      const { start, step, accepts } = machineOf(language.of, context);
      return { start, step, accepts: (state) => !accepts(state), isDead: () => false };
    }
    case "middle":
      return middleMachine(language, context);
    case "small":
      return smallMachine(machineOf(language.of, context), context);
    case "unknown":
      return { start: 0, step: () => 0, accepts: () => true, isDead: () => false };
  }
};

/** Computes each transition once. */
const memoizeStep = (size: number, step: (state: number, symbol: number) => number): Machine["step"] => {
  const known: Int32Array[] = [];
  return (state, symbol) => {
    known[state] ??= new Int32Array(size).fill(-1);
    const row = known[state];
    if (row[symbol] === -1) row[symbol] = step(state, symbol);
    return row[symbol] as number;
  };
};

const textMachine = (text: string, { alphabet }: Context): Machine => {
  const symbols = codePointsOf(text).map(alphabet.symbolOf);
  const dead = symbols.length + 1;
  return {
    start: 0,
    step: (state, symbol) => (symbols[state] === symbol ? state + 1 : dead),
    accepts: (state) => state === symbols.length,
    isDead: (state) => state === dead,
  };
};

const machinesOf = (language: Language, context: Context) => partsOf(language).map((one) => machineOf(one, context));

/** In one state of each of the machines; `partsOf` returns these states. */
const productMachine = (machines: readonly Machine[], { alphabet, budget }: Context, kind: "every" | "some") => {
  const { states, numberOf } = numbersOf<readonly number[]>((state) => state.join(), budget);
  const partsOf = (state: number) => states[state] as readonly number[];
  return {
    partsOf,
    start: numberOf(machines.map(({ start }) => start)),
    step: memoizeStep(alphabet.size, (state, symbol) => {
      spend(budget, 1);
      return numberOf(machines.map(({ step }, i) => step(partsOf(state)[i] as number, symbol)));
    }),
    accepts: (state: number): boolean => machines[kind](({ accepts }, i) => accepts(partsOf(state)[i] as number)),
    isDead: (state: number): boolean => {
      const isDead = ({ isDead }: Machine, i: number): boolean => isDead(partsOf(state)[i] as number);
      return kind === "every" ? machines.some(isDead) : machines.every(isDead);
    },
  };
};

const middleMachine = (language: Language, context: Context): Machine => {
  const { alphabet, budget } = context;
  const [first, inner, last] = machinesOf(language, context) as [Machine, Machine, Machine];
  const begins = productMachine([inner, first], context, "every");
  const begun = [...reachable(begins, alphabet.size, budget)].map(begins.partsOf) as [number, number][];
  const canEnd = new Map<number, boolean>();
  const endsFrom = (start: number) =>
    getOrInsert(canEnd, start, () => {
      const ends = productMachine([{ ...inner, start }, last], context, "every");
      return isSomeReachable(ends, alphabet.size, budget);
    });
  return manyMachine(
    begun.flatMap(([state, end]) => (first.accepts(end) ? [state] : [])),
    inner,
    (symbol) => [symbol],
    endsFrom,
    context,
  );
};

/** A machine that is in several states of another at once. */
const manyMachine = (
  start: readonly number[],
  inner: Machine,
  symbolsFor: (symbol: number) => readonly number[],
  accepts: (state: number) => boolean,
  { alphabet, budget }: Context,
): Machine => {
  const { states, numberOf } = numbersOf<readonly number[]>((parts) => parts.join(), budget);
  const alive = (parts: readonly number[]) =>
    [...new Set(parts)].filter((state) => !inner.isDead(state)).sort((a, b) => a - b);
  const partsOf = (state: number) => states[state] as readonly number[];
  return {
    start: numberOf(alive(start)),
    step: memoizeStep(alphabet.size, (state, symbol) => {
      const next = partsOf(state).flatMap((one) => symbolsFor(symbol).map((own) => inner.step(one, own)));
      spend(budget, 1 + next.length);
      return numberOf(alive(next));
    }),
    accepts: (state) => partsOf(state).some(accepts),
    isDead: (state) => partsOf(state).length === 0,
  };
};

/** Yields each state as it is reached. */
function* reachable({ start, step, isDead }: Machine, size: number, budget: Budget): Generator<number> {
  const seen = new Set([start]);
  for (const state of seen) {
    yield state;
    if (isDead(state)) continue;
    spend(budget, size);
    for (let symbol = 0; symbol < size; symbol += 1) seen.add(step(state, symbol));
  }
}

const isSomeReachable = (machine: Machine, size: number, budget: Budget) => {
  for (const state of reachable(machine, size, budget)) if (machine.accepts(state)) return true;
  return false;
};

const smallMachine = (inner: Machine, context: Context): Machine => {
  const symbolFor = (letter: string) => context.alphabet.symbolOf(letter.codePointAt(0) as number);
  const large = new Map([...LETTERS].map((one) => [symbolFor(one), symbolFor(one.toUpperCase())]));
  const isLarge = new Set(large.values());
  const symbolsFor = (symbol: number) => {
    if (isLarge.has(symbol)) return [];
    const upper = large.get(symbol);
    return upper === undefined ? [symbol] : [symbol, upper];
  };
  return manyMachine([inner.start], inner, symbolsFor, inner.accepts, context);
};

// The states of an automaton, by number.

export interface Machine {
  start: number;
  /** the state after one more character */
  step(state: number, symbol: number): number;
  /** the text up to here is in the language */
  accepts(state: number): boolean;
  /** no longer text can be in the language either */
  isDead(state: number): boolean;
}

interface Context {
  alphabet: Alphabet;
  budget: Budget;
}

/** Numbers for states, and the states by number. */
const numbersOf = <T>(keyOf: (state: T) => string, budget: Budget) => {
  const numbers = new Map<string, number>();
  const states: T[] = [];
  const numberOf = (state: T) => {
    const key = keyOf(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    spend(budget, 1 + key.length);
    numbers.set(key, states.length);
    return states.push(state) - 1;
  };
  return { states, numberOf };
};

// The program of a pattern as a deterministic automaton: a state is the set of instructions that the text may have led to.

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

const programMachine = ({ instructions, start }: Program, { alphabet, budget }: Context): Machine => {
  const reads = instructions.map((one) => (one.kind === "read" ? alphabet.symbolsIn(one.ranges) : undefined));
  const asserted = instructions.reduce((sum, one) => (one.kind === "assert" ? sum | one.flags : sum), 0);
  const isLineAsserted = (asserted & (ASSERTION.beginLine | ASSERTION.endLine)) !== 0;
  const isWordAsserted = (asserted & (ASSERTION.boundary | ASSERTION.noBoundary)) !== 0;
  const { states, numberOf } = numbersOf<Place>(({ at, before }) => `${before} ${at.join()}`, budget);
  const placeAt = (state: number) => states[state] as Place;

  const beforeNext = (symbol: number) => {
    if (isLineAsserted && alphabet.isNewline(symbol)) return NEWLINE;
    return isWordAsserted && alphabet.isWord(symbol) ? WORD : OTHER;
  };
  /** `next`: the following character; undefined at the end */
  const flagsAt = ({ before }: Place, next: number | undefined) => {
    const isWord = next !== undefined && isWordAsserted && alphabet.isWord(next);
    let flags: number = isWord === (before === WORD) ? ASSERTION.noBoundary : ASSERTION.boundary;
    if (before === BEGIN) flags |= ASSERTION.beginText | ASSERTION.beginLine;
    if (before === NEWLINE) flags |= ASSERTION.beginLine;
    if (next === undefined) flags |= ASSERTION.endText | ASSERTION.endLine;
    else if (alphabet.isNewline(next)) flags |= ASSERTION.endLine;
    return flags;
  };
  /** Every instruction that is reachable without reading a character. */
  const closureOf = (at: readonly number[], flags: number) => {
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
