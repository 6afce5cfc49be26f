// Work that runs at its first use, and at most once.

/** Returns the same result each time, a promise too. */
export const once = <T>(work: () => T): (() => T) => {
  let done: { result: T } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
};
