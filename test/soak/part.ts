// A part of the long proofs: runs, counts, and says what was wrong. The quick tests and `npm run soak` run the same parts,
// with other numbers.
export interface PartOptions {
  /** what the part is random by */
  seed: number;
  /** how much: rounds, operations, requests, as the part counts */
  rounds: number;
  /** one line on how far it is */
  log?: (text: string) => void;
}

export interface PartResult {
  /** its counts, in the order of the report */
  figures: Record<string, string | number>;
  /** what was wrong; empty = passed */
  failures: string[];
}

/** The value below which `share` of the sorted values lie. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};
