// The name that was probably meant by one that there is not.

export const nearest = (name: string, names: readonly string[]): string | undefined => {
  const ranked = names
    .map((other) => ({ other, distance: distance(name.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(1, name.length / 3) ? best.other : undefined;
};

/** Levenshtein's. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, char] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(
        Math.min((row[j] as number) + (char === other ? 0 : 1), (row[j + 1] as number) + 1, (next[j] as number) + 1),
      );
    row = next;
  }
  return row[b.length] as number;
};
