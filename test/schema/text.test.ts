// Names, descriptions and uids, which alone have the hierarchy (docs/contract.md#values, docs/contract.md#uids, docs/contract.md#d2).
import { describe, expect, test } from "vitest";
import {
  ancestorsOf,
  Group,
  inputViolations,
  isAncestor,
  isAncestorOrSelf,
  isRoot,
  isUidp,
  levelOf,
  parentOf,
  rootOf,
  uidp,
} from "../../schema/index.ts";

const NAME_TEXT = 'name must match "^[a-z0-9 ._-]{1,}$"';
const DESCRIPTION_TEXT = 'description must match "^[\\S ]{0,512}$"';

describe("a name", () => {
  test.each([
    ["one character is enough: {1,}, also a space", " "],
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

test.each([
  ["absent and empty are the same", ""],
  ["no character class but white space", "Groß, 日本語 – any script"],
  ["512 is the upper bound", "x".repeat(512)],
  ["characters are counted as RE2 counts them, not UTF-16 units", "😀".repeat(512)],
  ["RE2's \\S matches a no-break space", "a\u00a0b"],
])("a description is accepted: %s", (_, description) => {
  expect(inputViolations(Group, { name: "a", description })).toEqual([]);
});

test.each([
  ["no newline", "a\nb"],
  ["no tab", "a\tb"],
  ["one too many", "x".repeat(513)],
  ["one too many", "😀".repeat(513)],
])("a description is refused with the API's message: %s", (_, description) => {
  expect(inputViolations(Group, { name: "a", description })).toEqual([
    { field: "description", description: DESCRIPTION_TEXT },
  ]);
});

describe("a uid", () => {
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

const root = "0475f6ba1c2d3e4f5061728394a5b6c7d8e905b6";
const group = `${root}/b74ce966caf448d1`;
const leaf = `${group}/dda9aab2d2d90f9e`;

test("the parent of a record is its uid without the last segment, its root the first one, and its ancestors begin with the root and leave it out", () => {
  expect([leaf, group, root].map(parentOf)).toEqual([group, root, ""]);
  expect([leaf, group, root].map(rootOf)).toEqual([root, root, root]);
  expect([leaf, group, root].map(isRoot)).toEqual([false, false, true]);
  expect(ancestorsOf(leaf)).toEqual([root, group]);
  expect(ancestorsOf(root)).toEqual([]);
});

test.each([
  [root, leaf, true, "two levels above"],
  [group, leaf, true, "one level above"],
  [leaf, leaf, false, "IsAncestor is exclusive of itself"],
  [leaf, group, false, "below is not above"],
  [`${root}/b74ce966caf448d`, leaf, false, "a prefix of text that ends inside a segment"],
  [`${group}/dda9aab2d2d90f9`, leaf, false, "a prefix of the last segment"],
])("%s above %s: %s (%s)", (ancestor, uid, above) => {
  expect(isAncestor(ancestor, uid)).toBe(above);
});

test("IsAncestorOrSelf differs for the record itself only", () => {
  expect(isAncestorOrSelf(leaf, leaf)).toBe(true);
  expect(isAncestorOrSelf(group, leaf)).toBe(true);
  expect(isAncestorOrSelf(leaf, group)).toBe(false);
});

test("a uid has at most 102 levels below its organization: a hundred of groups, a repo, a tag", () => {
  const at = (levels: number) => root + "/b74ce966caf448d1".repeat(levels);
  expect([0, 100, 102].map((levels) => levelOf(at(levels)))).toEqual([0, 100, 102]);
  expect([0, 100, 102, 103, 60_000].map((levels) => isUidp(at(levels)))).toEqual([true, true, true, false, false]);
});
