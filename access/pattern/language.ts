// Sets of texts, and decidable questions about them: whether a text is in all of them, and how many texts there are.
//
// A language is a pattern as the exchange matches it (schema/pattern.ts), one text, or a combination of languages. `findText` and
// `countTexts` of access/pattern/decide.ts use automata instead of trying texts: they find a text if one exists.
import { type Program, programOf } from "./program.ts";

export type Language =
  | { kind: "pattern"; program: Program; isMatch: (text: string) => boolean }
  | { kind: "text"; text: string }
  | { kind: "every"; of: readonly Language[] }
  | { kind: "some"; of: readonly Language[] }
  | { kind: "not"; of: Language }
  /** the texts of `of` that occur between some text of `before` and some text of `after` */
  | { kind: "middle"; before: Language; of: Language; after: Language }
  /** the lower-case texts that are in `of` once some of their ASCII letters are capitalized */
  | { kind: "small"; of: Language }
  /** an unknown language: it may contain every text */
  | { kind: "unknown" };

export const text = (value: string): Language => ({ kind: "text", text: value });
export const every = (...of: readonly Language[]): Language => ({ kind: "every", of });
export const some = (...of: readonly Language[]): Language => ({ kind: "some", of });
/** The complement of an unknown language is unknown: it may also lack every text. */
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

/** The texts that a pattern matches in full. The language of an unreadable pattern is unknown. */
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

/** The languages that it combines. */
export const partsOf = (language: Language): readonly Language[] => {
  switch (language.kind) {
    case "every":
    case "some":
      return language.of;
    case "not":
    case "small":
      return [language.of];
    case "middle":
      return [language.before, language.of, language.after];
    default:
      return [];
  }
};

/** Whether the language depends on an unknown one, so that it may differ from its description. */
export const hasUnknown = (language: Language): boolean =>
  language.kind === "unknown" || partsOf(language).some(hasUnknown);

// Most questions are about a text or two, and need no automaton.

const FEW = 64;
/** Automata search the places of a longer text faster. */
const LONGEST = 300;

/** The texts of a language, if they are few and easy to list; undefined: unknown. */
export const textsOf = (language: Language): readonly string[] | undefined => {
  switch (language.kind) {
    case "text":
      return [language.text];
    case "some":
      return together(language.of.map(textsOf));
    case "every":
      return textsOfEvery(language.of);
    case "middle": {
      const { of, before, after } = language;
      return together(textsOf(of)?.map((one) => middlesOf(one, before, after)) ?? [undefined]);
    }
    default:
      return undefined;
  }
};

const together = (parts: readonly (readonly string[] | undefined)[]): readonly string[] | undefined => {
  const texts = new Set<string>();
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const one of part) texts.add(one);
  }
  return texts.size > FEW ? undefined : [...texts];
};

const textsOfEvery = (languages: readonly Language[]): readonly string[] | undefined => {
  for (const one of languages) {
    const texts = textsOf(one);
    if (texts === undefined) continue;
    const answers = texts.map((text) => languages.map((other) => isIn(other, text)));
    // One language that excludes a text decides, even if others are unknown.
    if (answers.some((own) => !own.includes(false) && own.includes(undefined))) continue;
    return texts.filter((_, i) => !answers[i]?.includes(false));
  }
  return undefined;
};

const middlesOf = (text: string, before: Language, after: Language): readonly string[] | undefined => {
  if (text.length > LONGEST) return undefined;
  const cuts = Array.from({ length: text.length + 1 }, (_, i) => i).filter((i) => text.slice(0, i).isWellFormed());
  const begins = cuts.map((at) => isIn(before, text.slice(0, at)));
  const ends = cuts.map((at) => isIn(after, text.slice(at)));
  if ([...begins, ...ends].includes(undefined)) return undefined;
  const found: string[] = [];
  for (const [i, from] of cuts.entries()) {
    if (!begins[i]) continue;
    for (const [j, to] of cuts.entries()) if (j >= i && ends[j]) found.push(text.slice(from, to));
    if (found.length > FEW) return undefined;
  }
  return found;
};

/** Whether a text is in a language; undefined: not easy to decide. */
export const isIn = (language: Language, text: string): boolean | undefined => {
  switch (language.kind) {
    case "pattern":
      return language.isMatch(text);
    case "text":
      return language.text === text;
    case "every":
    case "some": {
      const decisive = language.kind === "some";
      const answers = language.of.map((one) => isIn(one, text));
      if (answers.includes(decisive)) return decisive;
      return answers.includes(undefined) ? undefined : !decisive;
    }
    case "not": {
      const answer = isIn(language.of, text);
      return answer === undefined ? undefined : !answer;
    }
    case "middle":
      return textsOf(language)?.includes(text);
    default:
      return undefined;
  }
};
