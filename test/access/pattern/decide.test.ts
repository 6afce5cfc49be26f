// Questions about languages have the answers of the matcher that the exchange uses.
import { expect, test } from "vitest";
import { countTexts, findText } from "../../../access/pattern/decide.ts";
import { every, matching, middle, not, small, some, text, UNKNOWN } from "../../../access/pattern/language.ts";
import { patternMatcher } from "../../../schema/index.ts";

const PULL = "repo:[^/:]+/[^/:]+:pull_request";

test.each([
  ["repo:acme/charts.pull_request", PULL, "repo:acme/charts:pull_request", "a dot is a colon too"],
  ["(?i)REPO:ACME/charts:PULL.*", PULL, "repo:acme/charts:pull_request", "any case"],
  [String.raw`\Qrepo:a/b:\Epull\x5f[[:alpha:]]+`, PULL, "repo:a/b:pull_request", "quotes, codes and named classes"],
  [String.raw`repo\x{3a}a/b:\pL{4}.\PN{7}`, PULL, "repo:a/b:pull_request", "classes of Unicode and counts"],
  ["(?s).*", "a\nb", "a\nb", "a dot that takes a newline"],
  ["(?m)a$\\n^b", "(?s)a.b", "a\nb", "anchors of lines"],
  ["(?im-s:A)b|c", "ab", "ab", "flags of a group"],
  ["(?i)kelvin", "\u212aelvin", "\u212aelvin", "case beyond ASCII"],
  ["a\\b.b", "a-b|acb", "a-b", "the boundary of a word"],
  ["x{2,3}y", "xx+y", "xxy", "counts"],
])("a common text «%s» and «%s»: %j, %s", (one, other, expected) => {
  expect(findText(every(matching(one), matching(other)))).toEqual({ is: "found", text: expected });
  expect([one, other].map((pattern) => patternMatcher(pattern)(expected))).toEqual([true, true]);
});

test.each([
  ["repo:acme/.*:ref:refs/heads/.*", PULL, "no pull request is on a branch"],
  [".*", "a\nb", "a dot takes no newline"],
  ["a\\Bb", "a-b", "not at the boundary of a word"],
  ["a^b", "ab", "an anchor in the middle"],
  ["(?i-i:A)", "a", "a flag that is taken back"],
  ["[^\\x{0}-\\x{10FFFF}]", "(?s).*", "a class of nothing"],
])("a common text «%s» and «%s»: none, %s", (one, other) => {
  expect(findText(every(matching(one), matching(other)))).toEqual({ is: "none" });
});

test("a common text is not decided where it takes too many steps, and where a pattern cannot be read", () => {
  const doubling = "(a|b)*a(a|b){20}";
  expect(findText(every(matching(doubling), matching(doubling), not(matching(doubling))))).toEqual({
    is: "undecided",
  });
  expect(findText(matching("(?=a)"))).toEqual({ is: "undecided" });
  expect(countTexts(matching("(?=a)"), 5)).toBeUndefined();
  expect(findText(not(matching("(?=a)")))).toEqual({ is: "undecided" });
  const spent = { steps: 10 };
  expect(findText(matching("[a-c]+x"), spent)).toEqual({ is: "undecided" });
  expect(spent.steps).toBe(0);
});

test("a common text costs no step in a list of texts, and is none where what is known excludes it", () => {
  const exact = every(text("a"), not(text("b")));
  expect([findText(exact, { steps: 0 }), countTexts(exact, 5, { steps: 0 })]).toEqual([{ is: "found", text: "a" }, 1]);
  expect(findText(every(text("a"), text("b")), { steps: 0 })).toEqual({ is: "none" });
  expect(findText(every(UNKNOWN, matching("a"), matching("b")))).toEqual({ is: "none" });
});

test.each([
  ["a|b|a", 2],
  ["[ab]{3}", 8],
  ["(?i)ab", 4],
  ["a*", 100],
  ["x[^\\x{0}-\\x{10FFFF}]", 0],
  ["(?:a|b)?c", 3],
  [".", 100],
])("how many texts: «%s» matches: %i, 100 at most", (pattern, expected) => {
  expect(countTexts(matching(pattern), 100)).toBe(expected);
});

test("how many texts: those that differ in case alone are one, and those between two others are counted once", () => {
  expect(countTexts(small(matching("(?i)acme-inc")), 100)).toBe(1);
  expect(countTexts(small(matching("(?i)acme|Beta|[C]")), 100)).toBe(3);
  const owners = (pattern: string) =>
    countTexts(every(matching("[^/:]+"), middle(text("repo:"), matching(pattern), matching("/.*"))), 100);
  expect(owners("repo:(acme|evil)/.*|repo:acme/x")).toBe(2);
  expect(owners("repo:acme.*:ref:refs/heads/main")).toBe(100);
  const environments = middle(matching("repo:[^:]+:environment:"), matching("repo:a/.*:environment:(x|y)"), text(""));
  expect(countTexts(environments, 100)).toBe(100);
  expect(countTexts(every(matching("[^:]+"), environments), 100)).toBe(2);
});

test("one of several languages", () => {
  expect(findText(every(some(text("a"), matching("b+")), not(text("a"))))).toEqual({ is: "found", text: "b" });
});
