import { RE2JS } from "re2js";
import { describe, expect, it, vi } from "vitest";
import { type Budget, newBudget, patternMatcher, patternViolation } from "../../schema/pattern.ts";

const matchesPattern = (pattern: string, text: string, budget?: Budget) => patternMatcher(pattern)(text, budget);

const LARGE = "has too many large classes of characters";

it.each([
  "repo:org/app:.*",
  "[A-Za-z0-9_.-]{1,255}",
  "[^]x]{3}",
  "\\{[0-9a-f]{40}\\}",
  "\\Qrepo:org/app\\E:.*",
  "((a{10}){10}){5}",
  "x".repeat(1024),
  "[\\p{L}\\p{N}_-]+(?:\\.[\\p{L}\\p{N}_-]+)*",
  "(?i)[\\x{4e00}-\\x{9fff}а-яё]+",
  "[\\x{100}-\\x{10FFFF}]".repeat(50),
])("patternViolation has nothing against «%s»", (pattern) => expect(patternViolation(pattern)).toBeUndefined());

it.each([
  ["", "must be an RE2 pattern: empty", "an empty text"],
  ["x".repeat(1025), "must be an RE2 pattern: longer than 1024 characters", "longer than the field"],
  ["(", "must be an RE2 pattern: error parsing regexp: missing closing ): `(`", "open"],
  ["a)|(b", "must be an RE2 pattern: error parsing regexp: unexpected ): `a)|(b`", "a pattern only inside a group"],
  ["(?=a)", "must be an RE2 pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`", "not RE2"],
  ["(a)\\1", "must be an RE2 pattern: error parsing regexp: invalid escape sequence: `\\1`", "not RE2"],
  ["\\Qabc", "must be an RE2 pattern: error parsing regexp: missing closing ): `^(?:\\Qabc)$`", "takes the anchor"],
  ["a{1001}", "must be an RE2 pattern: error parsing regexp: invalid repeat count: `{1001}`", "the limit of RE2"],
  [`(${"x".repeat(500)}){1000}`, "must be an RE2 pattern: repeats too much", "500,000 instructions"],
  [`(${"x{0,999}".repeat(100)})y`, "must be an RE2 pattern: repeats too much", "76 seconds on 4 KiB"],
  [`((${"[)({]".repeat(30)}){10}){10}`, "must be an RE2 pattern: repeats too much", "brackets in classes"],
  ["x{0,999}", "must be an RE2 pattern: repeats too much", "two instructions for each"],
  ["\\pL".repeat(341), `must be an RE2 pattern: ${LARGE}`, "hundreds of ranges each"],
  ["[\\PL\\p{Greek}]".repeat(60), `must be an RE2 pattern: ${LARGE}`, "the same in classes"],
  [`(?i)${"[\\x{100}-\\x{10FFFF}]".repeat(50)}`, `must be an RE2 pattern: ${LARGE}`, "folded for two seconds"],
  [`x(?s-m:(?Ui:[a-\u{10ffff}]))`, `must be an RE2 pattern: ${LARGE}`, "in the middle of a pattern"],
])("patternViolation refuses «%.40s»: %s (%s)", (pattern, violation) =>
  expect(patternViolation(pattern)).toBe(violation),
);

describe("patternMatcher", () => {
  it.each<[string, string, boolean, string]>([
    ["a|b", "a", true, "an alternative"],
    ["a|b", "evil-b", false, "anchored on the left of each"],
    ["a|b", "a-evil", false, "anchored on the right of each"],
    ["a", "a\n", false, "no newline is forgiven at the end"],
    ["(?m)a$", "a\nb", false, "the flag ends with the group"],
    ["(?s).*", "a\nb", true, "requested by a flag"],
    [".*", "a\nb", false, "a dot is no newline"],
    ["prod", "PROD", false, "bytes"],
    ["😀+", "😀😀", true, "characters, not halves of them"],
    [".", "\ud83d", false, "half a character is not text"],
    [".*", "x".repeat(4097), false, "longer than a claim may be"],
    ["(", "(", false, "no pattern"],
    ["", "", false, "an empty pattern is not a pattern"],
  ])("«%s» on «%.20s»: %s, %s", (pattern, text, expected) => expect(matchesPattern(pattern, text)).toBe(expected));

  it.each([
    ["[a-z]{0,9}(?:a|aa)*", 46, "ab"],
    ["a.*", 300, "a"],
    ["(?i)[a-z]*", 90, "aB"],
    ["\\b|a", 250, "a"],
  ])("«%s» %i times, the longest pattern, soon exceeds the budget of a token", (part, times, text) => {
    const pattern = part.repeat(times);
    expect(patternViolation(pattern)).toBeUndefined();
    const budget = newBudget();
    const matched = Array.from({ length: 20 }, () => matchesPattern(pattern, text.repeat(2048 / text.length), budget));
    expect(matched.at(-1)).toBe(false);
    expect(budget.steps).toBeLessThan(0);
  });

  it("has a budget for twenty typical patterns", () => {
    const budget = newBudget();
    const typical = "repo:my-org/my-repo:ref:refs/heads/main";
    for (let i = 0; i < 20; i += 1)
      expect(matchesPattern("repo:my-org/[a-z-]+:ref:refs/heads/(main|next)", typical, budget)).toBe(true);
    for (let i = 0; i < 20; i += 1) expect(matchesPattern("[0-9a-f]{40}", "0".repeat(40), budget)).toBe(true);
    expect(budget.steps).toBeGreaterThan(3_500_000);
  });

  it("is compiled once for all audiences of a token, on first use", () => {
    const compile = vi.spyOn(RE2JS, "compile");
    const matches = patternMatcher("https://(a|b)");
    expect(compile).not.toHaveBeenCalled();
    for (const text of ["https://a", "https://b", "https://c"]) expect(matches(text)).toBe(text !== "https://c");
    // Alone, and in its group.
    expect(compile.mock.calls).toEqual([["https://(a|b)"], ["^(?:https://(a|b))$"]]);
    compile.mockRestore();
  });

  it("needs linear time where a backtracking engine does not end", () => {
    expect(matchesPattern("(a+)+", `${"a".repeat(4000)}!`)).toBe(false);
  });
});
