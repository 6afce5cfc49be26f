/** So many at a time, as the engine works; the results are in the order of the items. */
export const inParallel = async <T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  parallel = 8,
): Promise<R[]> => {
  const results: R[] = [];
  const left = [...items.entries()];
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
};
