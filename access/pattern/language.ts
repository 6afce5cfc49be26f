// Sets of texts, and questions about them that have an answer: is a text in all of them, how many texts are there.
//
// A language is a pattern as the exchange matches it (schema/pattern.ts), one text, or made of others. `findText` and
// `countTexts` of access/pattern/decide.ts answer by automata, not by trying texts: a text that exists is found.
import { type Program, programOf } from "./program.ts";

export type Language =
  | { kind: "pattern"; program: Program; isMatch: (text: string) => boolean }
  | { kind: "text"; text: string }
  | { kind: "every"; of: readonly Language[] }
  | { kind: "some"; of: readonly Language[] }
  | { kind: "not"; of: Language }
  /** the texts that are in `of` between some text of `before` and some text of `after` */
  | { kind: "middle"; before: Language; of: Language; after: Language }
  /** the texts in small letters that are in `of` when some of their ASCII letters are written large */
  | { kind: "small"; of: Language }
  /** nothing is known of it: it may be every text */
  | { kind: "unknown" };

export const text = (value: string): Language => ({ kind: "text", text: value });
export const every = (...of: readonly Language[]): Language => ({ kind: "every", of });
export const some = (...of: readonly Language[]): Language => ({ kind: "some", of });
/** What is not known may lack every text too. */
export const not = (of: Language): Language => (hasUnknown(of) ? UNKNOWN : { kind: "not", of });
export const middle = (before: Language, of: Language, after: Language): Language => ({
  kind: "middle",
  before,
  of,
  after,
});
export const small = (of: Language): Language => ({ kind: "small", of });
export const NOTHING: Language = some();
export const ANYTHING: Language = every();
export const UNKNOWN: Language = { kind: "unknown" };

/** The texts that a pattern matches in full. A pattern that cannot be read is unknown. */
export const matching = (pattern: string): Language => {
  const known = READ.get(pattern);
  if (known) return known;
  const read = programOf(pattern);
  const language: Language = read === undefined ? UNKNOWN : { kind: "pattern", ...read };
  if (READ.size === READ_MAX) READ.clear();
  READ.set(pattern, language);
  return language;
};

/** Patterns are compiled once: rules ask about the same ones again. */
const READ = new Map<string, Language>();
const READ_MAX = 500;

/** Whether what is known of it may be more than what is in it. */
export const hasUnknown = (language: Language): boolean => {
  switch (language.kind) {
    case "unknown":
      return true;
    case "every":
    case "some":
      return language.of.some(hasUnknown);
    case "not":
    case "small":
      return hasUnknown(language.of);
    case "middle":
      return [language.before, language.of, language.after].some(hasUnknown);
    default:
      return false;
  }
};
