// Suggestions for names that do not exist.

/**
 * Number of mistakes that turn one text into the other (optimal string alignment). A mistake is a missing, added or wrong letter, or two
 * letters in the wrong order.
 */
const distanceBetween = (name: string, other: string): number => {
  const [a, b] = [name.toLowerCase(), other.toLowerCase()];
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(isSwapped ? Math.min(best, at(beforeLast, j - 2) + 1) : best);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
};

const at = (row: readonly number[], index: number) => row[index] as number;

// A misspelling may differ in a third of the characters, and a short name in one.
const farthest = (name: string) => Math.max(1, Math.floor(name.length / 3));

/** A longer text is not a misspelling. Comparing takes time proportional to the product of both lengths. */
const NAME_MAX = 1000;

const rankNames = (name: string, names: Iterable<string>) =>
  name.length > NAME_MAX
    ? []
    : [...new Set(names)]
        .filter((other) => other.length <= NAME_MAX)
        .map((other) => ({ other, distance: distanceBetween(name, other) }))
        .toSorted((a, b) => a.distance - b.distance);

/** The name that `name` misspells; undefined if there is none. */
export const nearest = (name: string, names: Iterable<string>): string | undefined => {
  const [best] = rankNames(name, names);
  return best && best.distance <= farthest(name) ? best.other : undefined;
};

const LEAST_PART = 3;

/** Possible names, nearest first: misspellings, and names that contain `name`. */
export const nearestNames = (name: string, names: Iterable<string>, most = 3): string[] => {
  const isPart = (other: string) => name.length >= LEAST_PART && other.toLowerCase().includes(name.toLowerCase());
  return rankNames(name, names)
    .filter(({ other, distance }) => distance <= farthest(name) || isPart(other))
    .slice(0, most)
    .map(({ other }) => other);
};

/** `; did you mean viewer?` for the end of a message; empty if no name is near. */
export const suggestion = (name: string, names: Iterable<string>, most = 1): string => {
  const near = nearestNames(name, names, most);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

// Makes foreign text safe for a terminal or a page. Control characters (C0, DEL, C1) move the cursor or forge lines. Line separators and
// bidirectional controls disguise text (https://trojansource.codes). Invisible characters make two texts look the same.

const CONTROLS = /[\p{Cc}\u2028\u2029\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

// Escapes UTF-16 units, so that an escape inside JSON stands for the same character.
const escapeCharacter = (character: string) =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** The text as one line, with such characters as `\u001b`. */
export const printable = (text: string): string => text.replace(CONTROLS, escapeCharacter);

/** The same for our own text that quotes others: line breaks stay. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

/** A head, and below it a line for each item. */
export const bulleted = (head: string, ...lines: readonly string[]): string => [head, ...lines].join("\n  - ");

const HTML_ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for an HTML element or the value of an attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => HTML_ESCAPES[char] as string);
