// Answers about languages: an example, or that there is none; and how many texts there are.
import { alphabetOf } from "./alphabet.ts";
import { type Budget, spend, Undecided } from "./budget.ts";
import { every, hasUnknown, type Language, not, textsOf } from "./language.ts";
import { machineOf, setsIn } from "./machine.ts";
import type { Machine } from "./state.ts";

/** Most steps of one question: about a tenth of a second. */
const QUESTION_STEPS = 400_000;

/** `undecided`: it needs more steps than it may take, or depends on what is not known. It counts as a text that exists. */
export type Found = { is: "found"; text: string } | { is: "none" } | { is: "undecided" };

/** A shortest text of the language. */
export const findText = (language: Language, total?: Budget): Found => {
  const few = textsOf(language);
  if (few) return few[0] === undefined ? { is: "none" } : { is: "found", text: few[0] };
  return withinBudget<Found>(total, { is: "undecided" }, (budget) => {
    const alphabet = alphabetOf(setsIn(language), budget);
    const path = shortestPath(machineOf(language, { alphabet, budget }), alphabet.size, budget);
    if (path === undefined) return { is: "none" };
    return hasUnknown(language) ? { is: "undecided" } : { is: "found", text: path.map(alphabet.example).join("") };
  });
};

/** How many texts the language has, `most` at most; undefined: undecided, which may be any number. */
export const countTexts = (language: Language, most: number, total?: Budget): number | undefined => {
  const few = textsOf(language);
  if (few) return Math.min(few.length, most);
  if (hasUnknown(language)) return isEmpty(language, total) ? 0 : undefined;
  return withinBudget<number | undefined>(total, undefined, (budget) => {
    const alphabet = alphabetOf(setsIn(language), budget);
    return count(machineOf(language, { alphabet, budget }), alphabet, most, budget);
  });
};

export const isEmpty = (language: Language, total?: Budget): boolean => findText(language, total).is === "none";

/** Whether each text of `small` is in `large`; false where it cannot be decided. */
export const isWithin = (small: Language, large: Language, total?: Budget): boolean =>
  isEmpty(every(small, not(large)), total);

/** More names than somebody lists. */
export const LISTED_MAX = 32;

/** What is not decided counts as more. */
export const hasMoreThan = (most: number, language: Language, total?: Budget): boolean => {
  const count = countTexts(language, most + 1, total);
  return count === undefined || count > most;
};

const withinBudget = <T>(total: Budget | undefined, undecided: T, ask: (budget: Budget) => T): T => {
  const steps = Math.min(QUESTION_STEPS, total?.steps ?? QUESTION_STEPS);
  const budget = { steps };
  try {
    return ask(budget);
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
    if (accepts(state)) return pathTo(state, cameBy);
    if (isDead(state)) continue;
    spend(budget, size / 4);
    for (let symbol = 0; symbol < size; symbol += 1) {
      const next = step(state, symbol);
      if (!cameBy.has(next)) cameBy.set(next, { from: state, symbol });
    }
  }
  return undefined;
};

const pathTo = (end: number, cameBy: ReadonlyMap<number, { from: number; symbol: number } | undefined>): number[] => {
  const path: number[] = [];
  for (let by = cameBy.get(end); by !== undefined; by = cameBy.get(by.from)) path.push(by.symbol);
  return path.reverse();
};

interface Edge {
  to: number;
  width: number;
}

const count = (
  { start, step, accepts, isDead }: Machine,
  { size, width }: { size: number; width: (symbol: number) => number },
  most: number,
  budget: Budget,
): number => {
  const edges = new Map<number, Edge[]>([[start, []]]);
  const into = new Map<number, number[]>();
  for (const [state, own] of edges) {
    if (isDead(state)) continue;
    spend(budget, size / 4);
    for (let symbol = 0; symbol < size; symbol += 1) {
      const to = step(state, symbol);
      own.push({ to, width: width(symbol) });
      if (!edges.has(to)) edges.set(to, []);
      const from = into.get(to);
      if (from) from.push(state);
      else into.set(to, [state]);
    }
  }
  // What leads to an accepted text. A circle among these states is an endless number of texts.
  const useful = new Set([...edges.keys()].filter(accepts));
  for (const state of useful) for (const from of into.get(state) ?? []) useful.add(from);
  if (!useful.has(start)) return 0;
  const counts = new Map<number, number>();
  const waiting: { state: number; next: number }[] = [{ state: start, next: 0 }];
  const open = new Set([start]);
  for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
    const usefulEdges = (edges.get(top.state) as Edge[]).filter(({ to }) => useful.has(to));
    const edge = usefulEdges[top.next];
    if (edge === undefined) {
      const sum = usefulEdges.reduce(
        (all, { to, width }) => all + width * (counts.get(to) as number),
        Number(accepts(top.state)),
      );
      counts.set(top.state, Math.min(most, sum));
      open.delete(top.state);
      waiting.pop();
    } else if (open.has(edge.to)) return most;
    else if (counts.has(edge.to)) top.next += 1;
    else {
      open.add(edge.to);
      waiting.push({ state: edge.to, next: 0 });
    }
  }
  return counts.get(start) as number;
};
