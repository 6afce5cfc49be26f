// The states of an automaton, by number.
import type { Alphabet } from "./alphabet.ts";
import { type Budget, spend } from "./budget.ts";

export interface Machine {
  start: number;
  /** the state after one more character */
  step(state: number, symbol: number): number;
  /** the text up to here is in the language */
  accepts(state: number): boolean;
  /** no longer text can be in the language either */
  isDead(state: number): boolean;
}

export interface Context {
  alphabet: Alphabet;
  budget: Budget;
}

/** Numbers for states, and the states by number. */
export const numbersOf = <T>(keyOf: (state: T) => string, budget: Budget) => {
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
