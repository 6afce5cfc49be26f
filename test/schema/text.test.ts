// Names, descriptions and uids (docs/contract.md#values, docs/contract.md#d2).
import { describe, expect, test } from "vitest";
import { Group, inputViolations, isUidp, uidp } from "../../schema/index.ts";

const NAME_TEXT = 'name must match "^[a-z0-9 ._-]{1,}$"';
const DESCRIPTION_TEXT = 'description must match "^[\\S ]{0,512}$"';

describe("a name", () => {
  test.each([
    ["one character is enough: {1,}", "a"],
    ["a space is in the class", " "],
    ["every character of the class", "a b._-z9"],
    ["255 is the upper bound", "a".repeat(255)],
  ])("is accepted: %s", (_, name) => {
    expect(inputViolations(Group, { name })).toEqual([]);
  });

  test.each([
    ["REQUIRED", undefined],
    ["{1,}", ""],
    ["upper case is not in the class", "A"],
    ["letters beyond ASCII are not in the class", "é"],
    ["a slash would make it a path", "a/b"],
    ["the whole value is matched: no newline at the end", "a\n"],
  ])("is refused with the API's message: %s", (_, name) => {
    expect(inputViolations(Group, { name })).toEqual([{ field: "name", description: NAME_TEXT }]);
  });

  test("of 256 characters is refused by its length alone", () => {
    const violations = [{ field: "name", description: "name must be at most 255 characters" }];
    expect(inputViolations(Group, { name: "a".repeat(256) })).toEqual(violations);
  });
});

describe("a description", () => {
  test.each([
    ["absent and empty are the same", ""],
    ["no character class but white space", "Groß, 日本語 – any script"],
    ["512 is the upper bound", "x".repeat(512)],
    ["characters are counted as RE2 counts them, not UTF-16 units", "😀".repeat(512)],
    ["RE2's \\S matches a no-break space", "a\u00a0b"],
  ])("is accepted: %s", (_, description) => {
    expect(inputViolations(Group, { name: "a", description })).toEqual([]);
  });

  test.each([
    ["no newline", "a\nb"],
    ["no tab", "a\tb"],
    ["one too many", "x".repeat(513)],
    ["one too many", "😀".repeat(513)],
  ])("is refused with the API's message: %s", (_, description) => {
    expect(inputViolations(Group, { name: "a", description })).toEqual([
      { field: "description", description: DESCRIPTION_TEXT },
    ]);
  });
});

describe("a uid", () => {
  const root = "720909c9f5279097d847ad02a2f24ba8f59de36a";

  test.each([
    ["a root group, a user's identity, a built-in role", root],
    ["the identity of the published sample", `${root}/a033a6fabe0bfa0d`],
    ["a nested group", `${root}/b74ce966caf448d1/dda9aab2d2d90f9e`],
  ])("is %s", (_, uid) => {
    expect(isUidp(uid)).toBe(true);
    expect(uidp.safeParse(uid).success).toBe(true);
  });

  test.each([
    ["empty", ""],
    ["the parent of a root is not a uid", "/"],
    ["39 digits", root.slice(1)],
    ["a segment of 15", `${root}/a033a6fabe0bfa0`],
    ["an empty segment between", `${root}//a033a6fabe0bfa0d`],
    ["a newline at the end", `${root}\n`],
    ["a path with `..`", `${root}/../a033a6fabe0bfa0d`],
    ["absent", undefined],
    ["a number", 7],
  ])("is not %s", (_, uid) => {
    expect(isUidp(uid)).toBe(false);
    expect(uidp.safeParse(uid).success).toBe(false);
  });
});
