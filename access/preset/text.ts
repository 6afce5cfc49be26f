// The texts of presets: `*` as a pattern, everything else as it is; and the rules that several presets share.

export type Violation = (text: string) => string | undefined;

export const hasWildcard = (text: string): boolean => text.includes("*");

/** A part of a claim: a text in which `*` may stand for something, or a pattern. */
export type Part = string | { pattern: string };

const patternOf = (part: Part): string =>
  typeof part === "string" ? part.split("*").map(escapeRe2).join("[^/:]*") : part.pattern;

// RE2 takes a backslash before any ASCII punctuation (https://github.com/google/re2/wiki/Syntax).
const escapeRe2 = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");

/** The parts one after the other: equal to the claim where no part leaves anything open, or a pattern of the whole claim. */
export const exactOrPattern = (...parts: readonly Part[]): { exact: string } | { pattern: string } =>
  parts.every((part) => typeof part === "string" && !hasWildcard(part))
    ? { exact: parts.join("") }
    : { pattern: parts.map(patternOf).join("") };

export const subjectOf = (...parts: readonly Part[]): { subject: string } | { subjectPattern: string } => {
  const text = exactOrPattern(...parts);
  return "exact" in text ? { subject: text.exact } : { subjectPattern: text.pattern };
};

/** A colon separates the parts of a subject, so one in an argument would reach into the next part. */
export const noColon: Violation = (text) =>
  text.includes(":") ? 'must not contain ":", which separates the parts of the subject' : undefined;

/** One segment of a path: no slash either. */
export const segment: Violation = (text) => (text.includes("/") ? 'must not contain "/"' : noColon(text));

/** A segment that stays the same: `*` would let in strangers. */
export const oneSegment =
  (what: string): Violation =>
  (text) =>
    hasWildcard(text) ? `must name one ${what}: * is not allowed here` : segment(text);

/** The name of a branch or tag. */
export const refName =
  (kind: "branch" | "tag"): Violation =>
  (text) => {
    const [, name] = /^refs\/(?:heads|tags)\/(.+)$/s.exec(text) ?? [];
    return name === undefined ? noColon(text) : `must be the name of the ${kind} alone: ${name}`;
  };
