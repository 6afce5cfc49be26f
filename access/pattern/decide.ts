// Answers about languages: an example, or that there is none; and the number of texts.
import { getOrInsert } from "../../schema/index.ts";
import { type Alphabet, alphabetOf } from "./alphabet.ts";
import { type Budget, spend, Undecided } from "./budget.ts";
import { every, hasUnknown, type Language, not, textsOf } from "./language.ts";
import { type Machine, machineOf, setsIn } from "./machine.ts";

/** Maximum steps of one question: about a tenth of a second. */
const QUESTION_STEPS = 400_000;

/** `undecided`: the question needs more steps than allowed, or depends on unknown facts. It counts as an existing text. */
export type Found = { is: "found"; text: string } | { is: "none" } | { is: "undecided" };

export const NONE: Found = { is: "none" };

/** The first text that an answer finds; asks no further questions then. */
export const firstFound = <T>(questions: Iterable<T>, answerTo: (one: T) => Found): Found => {
  let last: Found = NONE;
  for (const one of questions) {
    const answer = answerTo(one);
    if (answer.is === "found") return answer;
    if (answer.is === "undecided") last = answer;
  }
  return last;
};

/** A shortest text of the language. */
export const findText = (language: Language, total?: Budget): Found => {
  const few = textsOf(language);
  if (few) return few[0] === undefined ? NONE : { is: "found", text: few[0] };
  return withinBudget<Found>(language, total, { is: "undecided" }, (machine, alphabet, budget) => {
    const path = shortestPath(machine, alphabet.size, budget);
    if (path === undefined) return NONE;
    return hasUnknown(language) ? { is: "undecided" } : { is: "found", text: path.map(alphabet.example).join("") };
  });
};

/** The number of texts of the language, up to `most`; undefined: undecided, which may be any number. */
export const countTexts = (language: Language, most: number, total?: Budget): number | undefined => {
  const few = textsOf(language);
  if (few) return Math.min(few.length, most);
  if (hasUnknown(language)) return isEmpty(language, total) ? 0 : undefined;
  return withinBudget<number | undefined>(language, total, undefined, (machine, alphabet, budget) =>
    count(machine, alphabet, most, budget),
  );
};

export const isEmpty = (language: Language, total?: Budget): boolean => findText(language, total).is === "none";

/** Whether each text of `small` is in `large`; false if it cannot be decided. */
export const isWithin = (small: Language, large: Language, total?: Budget): boolean =>
  isEmpty(every(small, not(large)), total);

/** More names than someone would list. */
export const LISTED_MAX = 32;

/** An undecided question counts as more. */
export const hasMoreThan = (most: number, language: Language, total?: Budget): boolean => {
  const count = countTexts(language, most + 1, total);
  return count === undefined || count > most;
};

const withinBudget = <T>(
  language: Language,
  total: Budget | undefined,
  undecided: T,
  ask: (machine: Machine, alphabet: Alphabet, budget: Budget) => T,
): T => {
  const steps = Math.min(QUESTION_STEPS, total?.steps ?? QUESTION_STEPS);
  const budget = { steps };
  try {
    const alphabet = alphabetOf(setsIn(language), budget);
    return ask(machineOf(language, { alphabet, budget }), alphabet, budget);
  } catch (error) {
    if (error instanceof Undecided) return undecided;
    throw error;
  } finally {
    if (total) total.steps -= steps - Math.max(0, budget.steps);
  }
};

const shortestPath = (machine: Machine, size: number, budget: Budget): number[] | undefined => {
  const { start, step, accepts, isDead } = machine;
  const cameBy = new Map<number, { from: number; symbol: number } | undefined>([[start, undefined]]);
  for (const state of cameBy.keys()) {
    if (accepts(state)) {
      const path: number[] = [];
      for (let by = cameBy.get(state); by !== undefined; by = cameBy.get(by.from)) path.push(by.symbol);
      return path.reverse();
    }
    if (isDead(state)) continue;
    spend(budget, size / 4);
    for (let symbol = 0; symbol < size; symbol += 1) {
      const next = step(state, symbol);
      if (!cameBy.has(next)) cameBy.set(next, { from: state, symbol });
    }
  }
  return undefined;
};

const count = (
  { start, step, accepts, isDead }: Machine,
  { size, width }: Alphabet,
  most: number,
  budget: Budget,
): number => {
  /** number of characters that lead from one state to another */
  const edges = new Map<number, Map<number, number>>([[start, new Map()]]);
  const into = new Map<number, number[]>();
  for (const [state, own] of edges) {
    if (isDead(state)) continue;
    spend(budget, size / 4);
    for (let symbol = 0; symbol < size; symbol += 1) {
      const to = step(state, symbol);
      own.set(to, (own.get(to) ?? 0) + width(symbol));
      if (!edges.has(to)) edges.set(to, new Map());
      getOrInsert(into, to, () => []).push(state);
    }
  }
  // The states that lead to an accepted text.
  const useful = new Set([...edges.keys()].filter(accepts));
  for (const state of useful) for (const from of into.get(state) ?? []) useful.add(from);
  let total = 0;
  /** the states after one more character, each with the number of texts that lead to it */
  let layer = new Map([[start, 1]]);
  for (let length = 0; layer.size > 0 && total < most; length += 1) {
    // A text with more characters than states passes a state twice, so the number of texts is infinite.
    if (length > useful.size) return most;
    spend(budget, layer.size);
    const next = new Map<number, number>();
    for (const [state, texts] of layer) {
      if (accepts(state)) total += texts;
      for (const [to, characters] of edges.get(state) ?? [])
        if (useful.has(to)) next.set(to, Math.min(most, (next.get(to) ?? 0) + texts * characters));
    }
    layer = next;
  }
  return Math.min(most, total);
};
