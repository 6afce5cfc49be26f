// Most questions are about a text or two, and need no automaton.
import type { Language } from "./language.ts";

const FEW = 64;
/** Each place of a longer text is better found by an automaton. */
const LONGEST = 300;

/** The texts of a language, where they are few and easily told; undefined: not known. */
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
    // One that excludes a text decides, whatever is not known of the others.
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

/** Whether a text is in a language; undefined: not easily told. */
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
