// The differences between two texts, inside each of them: a reader must not have to compare two long subjects letter by letter.
import util, { type DiffEntry } from "node:util";

export interface Segment {
  text: string;
  /** the other text lacks it here */
  differs: boolean;
}

/** Words, spaces, and each other character by itself: if one owner becomes another, the whole name is marked. */
const WORDS = /[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu;

/** The memory of a comparison grows with the square of the words: beyond this limit, everything between the common ends is marked. */
const WORDS_MAX = 2_000;

const [ONLY_BEFORE, ONLY_AFTER, BOTH] = [1, -1, 0] as const;

export const differences = (before: string, after: string): { before: Segment[]; after: Segment[] } => {
  const [olds, news] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  const least = Math.min(olds.length, news.length);
  let start = 0;
  while (start < least && olds[start] === news[start]) start += 1;
  let end = 0;
  while (end < least - start && olds.at(-1 - end) === news.at(-1 - end)) end += 1;
  const [own, its] = [olds.slice(start, olds.length - end), news.slice(start, news.length - end)];
  const all = (operation: DiffEntry[0], words: readonly string[]) => words.map((word): DiffEntry => [operation, word]);
  const hasCommon = own.length > 0 && its.length > 0 && own.length + its.length <= WORDS_MAX;
  // Bun has no `diff`, and everything between the common ends is marked.
  const between = (hasCommon && util.diff?.(own, its)) || [...all(ONLY_BEFORE, own), ...all(ONLY_AFTER, its)];
  const entries = [...all(BOTH, olds.slice(0, start)), ...between, ...all(BOTH, olds.slice(olds.length - end))];
  return { before: segmentsOf(entries, ONLY_BEFORE), after: segmentsOf(entries, ONLY_AFTER) };
};

/** The segments of one text. Spaces at the end of a difference are not marked. */
const segmentsOf = (entries: readonly DiffEntry[], side: DiffEntry[0]): Segment[] => {
  const whole: Segment[] = [];
  for (const [operation, text] of entries) {
    if (operation !== BOTH && operation !== side) continue;
    const [last, differs] = [whole.at(-1), operation === side];
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

/** Marks differences with arrows, which even a terminal without colors shows. */
export const withArrows = (segments: readonly Segment[]): string =>
  segments.map(({ text, differs }) => (differs ? `»${text}«` : text)).join("");
