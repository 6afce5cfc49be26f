/** A service may refuse hundreds of requests at once. */
const AT_ONCE = 8;

/** Calls `act` for each item, for at most `atOnce` of them at a time. Rejects with the first error; calls under way go on. */
export const forEachOf = async <T>(
  items: Iterable<T>,
  act: (item: T) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> => {
  const next = [...items].values();
  const work = async () => {
    for (const item of next) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
};
