// A part of the long proofs: runs, counts, and says what was wrong. The quick tests run the same with other numbers.
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

/** Proves one thing after the other, each by a seed of its own, until one fails. Returns what was wrong. */
export const proveEach = async (
  { seed, rounds, log }: PartOptions,
  prove: (own: number, fail: (text: string) => void) => Promise<void>,
): Promise<string[]> => {
  const failures: string[] = [];
  for (let round = 1; round <= rounds && failures.length === 0; round += 1) {
    const own = seed * 1_000_003 + round;
    const fail = (text: string) => void failures.push(`round ${round}, by ${own}: ${text}`);
    await prove(own, fail).catch((error: Error) => fail(error.stack ?? String(error)));
    if (round % 50 === 0) log?.(`${round} of ${rounds}`);
  }
  return failures;
};
