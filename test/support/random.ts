// Repeatable randomness: the seed is in the test.
export interface Random {
  /** 0 ≤ n < below */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  hex(digits: number): string;
}

/** mulberry32 */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    shuffle: (items) => {
      const own = [...items];
      for (let i = own.length - 1; i > 0; i -= 1) {
        const j = below(i + 1);
        [own[i], own[j]] = [own[j] as (typeof own)[number], own[i] as (typeof own)[number]];
      }
      return own;
    },
    hex: (digits) => Array.from({ length: digits }, () => below(16).toString(16)).join(""),
  };
};
