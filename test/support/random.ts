// Repeatable randomness: the seed is in the test.
export type Random = ReturnType<typeof createRandom>;

/** mulberry32 */
export const createRandom = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  /** 0 ≤ n < limit */
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    pick: <T>(items: readonly T[]): T => items[below(items.length)] as T,
    shuffle: <T>(items: readonly T[]): T[] => {
      const own = [...items];
      for (let i = own.length - 1; i > 0; i -= 1) {
        const j = below(i + 1);
        [own[i], own[j]] = [own[j] as T, own[i] as T];
      }
      return own;
    },
    hex: (digits: number): string => Array.from({ length: digits }, () => below(16).toString(16)).join(""),
  };
};
