// What differs between two texts, inside each of them: a reader must not have to compare two long subjects letter by letter.

export interface Segment {
  text: string;
  /** the other text does not have it here */
  differs: boolean;
}

/** Words, spaces, and each other character by itself: where one owner becomes another, the whole name is marked. */
const WORDS = /[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu;

/** A table of all pairs of words: beyond this, all between the common ends differs. */
const PAIRS_MAX = 1_000_000;

export const differences = (before: string, after: string): { before: Segment[]; after: Segment[] } => {
  const [olds, news] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  let start = 0;
  while (start < Math.min(olds.length, news.length) && olds[start] === news[start]) start += 1;
  let end = 0;
  while (end < Math.min(olds.length, news.length) - start && olds.at(-1 - end) === news.at(-1 - end)) end += 1;
  const [own, its] = [olds.slice(start, olds.length - end), news.slice(start, news.length - end)];
  const kept =
    own.length * its.length > PAIRS_MAX ? { own: new Set<number>(), its: new Set<number>() } : common(own, its);
  const segmentsOf = (words: readonly string[], shared: ReadonlySet<number>): Segment[] =>
    mergeSegments(
      words.map((text, i) => ({
        text,
        differs: i >= start && i < words.length - end && !shared.has(i - start),
      })),
    );
  return { before: segmentsOf(olds, kept.own), after: segmentsOf(news, kept.its) };
};

/** The longest common subsequence, as the places of its words in either text. */
const common = (own: readonly string[], its: readonly string[]): { own: Set<number>; its: Set<number> } => {
  const width = its.length + 1;
  const lengths = new Uint32Array((own.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] as number;
  for (let i = own.length - 1; i >= 0; i -= 1)
    for (let j = its.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = own[i] === its[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const kept = { own: new Set<number>(), its: new Set<number>() };
  let [i, j] = [0, 0];
  while (i < own.length && j < its.length) {
    if (own[i] === its[j]) {
      kept.own.add(i);
      kept.its.add(j);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return kept;
};

/** Spaces at the end of what differs are not marked. */
const mergeSegments = (segments: readonly Segment[]): Segment[] => {
  const whole: Segment[] = [];
  for (const { text, differs } of segments) {
    const last = whole.at(-1);
    if (last && last.differs === differs) last.text += text;
    else whole.push({ text, differs });
  }
  return whole.flatMap(({ text, differs }) => {
    const shown = text.trimEnd();
    if (!differs || shown === "" || shown === text) return [{ text, differs }];
    return [
      { text: shown, differs },
      { text: text.slice(shown.length), differs: false },
    ];
  });
};

/** Marks what differs with arrows, which a terminal without colors shows too. */
export const withArrows = (segments: readonly Segment[]): string =>
  segments.map(({ text, differs }) => (differs ? `»${text}«` : text)).join("");
