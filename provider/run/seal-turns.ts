// Which writes under a seal may be under way at the same time. What a role grants decides what each other write gives: so the update of a
// role waits for all others, and they wait for it, from the check of a write to its response.

export interface SealTurns {
  /** Beside others. */
  beside<T>(work: () => Promise<T>): Promise<T>;
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export const createSealTurns = (): SealTurns => {
  /** ends with the last write that was alone */
  let last: Promise<unknown> = Promise.resolve();
  const others = new Set<Promise<unknown>>();
  return {
    beside: (work) => {
      const result = last.then(work);
      const ended = result.catch(() => undefined).finally(() => others.delete(ended));
      others.add(ended);
      return result;
    },
    alone: (work) => {
      const result = Promise.all([last, ...others]).then(work);
      last = result.catch(() => undefined);
      return result;
    },
  };
};
