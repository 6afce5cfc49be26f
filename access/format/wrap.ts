// Lists of words for a terminal.
import { printable } from "../../schema/index.ts";

const INDENT = "      ";

// A built-in role has up to two hundred.
const CAPABILITIES_SHOWN = 24;

/** Separated by commas; of a long list, how many more there are. */
export const capabilityWords = (capabilities: readonly string[]): string[] => {
  const rest = capabilities.length - CAPABILITIES_SHOWN;
  const words = capabilities
    .slice(0, CAPABILITIES_SHOWN)
    .map((one, i) => (i + 1 < capabilities.length ? `${one},` : one));
  return rest > 0 ? [...words, `and ${rest} more (--format json lists all)`] : words;
};

export const wrapWords = (words: readonly string[], width: number, first = INDENT, indent = INDENT): string[] => {
  const rows: string[] = [];
  for (const word of words.map(printable)) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) rows[rows.length - 1] = `${last} ${word}`;
    else rows.push((rows.length === 0 ? first : indent) + word);
  }
  return rows;
};
