// The steps that questions about patterns may take. A policy may be hostile: the states of an automaton can double with each character of a
// pattern. A question that needs more steps stays undecided, and the caller counts it as matching.

export interface Budget {
  steps: number;
}

/** For all questions of a review, or of a check of a policy: half a minute. A pattern of a CI takes about 10 milliseconds a question. */
export const newReviewBudget = (): Budget => ({ steps: 60_000_000 });

export class Undecided extends Error {}

export const spend = (budget: Budget, steps: number): void => {
  budget.steps -= steps;
  if (budget.steps < 0) throw new Undecided("needs too many steps");
};
