// Work that is done when it is first asked for, and at most once.

/** The same result, be it a promise or not, each time. */
export const once = <T>(work: () => T): (() => T) => {
  let done: { result: T } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
};
