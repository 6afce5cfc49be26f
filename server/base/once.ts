// Work that runs at its first use, and at most once.

/** Returns the same result each time, even if it is a promise. */
export const once = <T>(work: () => T): (() => T) => {
  let done: { result: T } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
};
