// Names, descriptions and uids, which alone have the hierarchy (docs/internals/contract.md#values, docs/internals/contract.md#uids,
// docs/internals/contract.md#d2). Texts that can be printed, addresses of loopback, and the nearest of some names.
import { describe, expect, it, test } from "vitest";
import { isLoopbackAddress, isLoopbackAuthority, isLoopbackHost, isLoopbackUrl } from "../../schema/address.ts";
import {
  ancestorsOf,
  Group,
  inputViolations,
  isAncestor,
  isAncestorOrSelf,
  isRoot,
  isUidp,
  levelOf,
  nearest,
  nearestNames,
  parentOf,
  printable,
  printableLines,
  rootOf,
  suggestion,
  uidp,
} from "../../schema/index.ts";

const NAME_TEXT = 'name must match "^[a-z0-9 ._-]{1,}$"';
const DESCRIPTION_TEXT = 'description must match "^[\\S ]{0,512}$"';

describe("a name", () => {
  test.each([
    ["one character is enough: {1,}, also a space", " "],
    ["every character of the class", "a b._-z9"],
    ["255 is the upper bound", "a".repeat(255)],
  ])("is accepted: %s", (_, name) => expect(inputViolations(Group, { name })).toEqual([]));

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
])("%s above %s: %s (%s)", (ancestor, uid, above) => expect(isAncestor(ancestor, uid)).toBe(above));

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

test.each<[string, string, string]>([
  ["an escape sequence of a terminal", "\u001b[2Jred", "\\u001b[2Jred"],
  ["line breaks and tabs", "a\r\n\tb", "a\\u000d\\u000a\\u0009b"],
  ["NUL, DEL and C1", "\u0000\u007f\u009b31m", "\\u0000\\u007f\\u009b31m"],
  ["line and paragraph separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
  ["bidirectional controls", "a\u202eb\u2066c\u2069\u061c\u200f", "a\\u202eb\\u2066c\\u2069\\u061c\\u200f"],
  ["what cannot be seen", "a\u200bb\u00adc\u{e0041}", "a\\u200bb\\u00adc\\udb40\\udc41"],
  ["letters of any script, and emoji", "Grüße, 世界, שלום 🙂", "Grüße, 世界, שלום 🙂"],
  ["text that is escaped already", "\\u001b", "\\u001b"],
])("printable text shows %s", (_, text, shown) => expect(printable(text)).toBe(shown));

test("printable text within JSON stands for the same text, and of several lines keeps its line breaks", () => {
  const text = "a\u200b\u202e\u{e0041}\u009b";
  expect(JSON.parse(printableLines(JSON.stringify({ text })))).toEqual({ text });
  expect(printableLines("one\u001b\n  - two\r\n")).toBe("one\\u001b\n  - two\\u000d\n");
});

const hosts: [host: string, isLoopback: boolean, reason: string][] = [
  ["localhost", true, "the name"],
  ["LocalHost", true, "names are case-insensitive"],
  ["127.0.0.1", true, "the usual address"],
  ["127.0.0.2", true, "the whole of 127.0.0.0/8"],
  ["::1", true, "as an address"],
  ["[::1]", true, "as the host of a URL"],
  ["127.0.0.256", false, "not an address"],
  ["127.0.1", false, "an address of three parts, which a URL parser would have completed"],
  ["0.0.0.0", false, "all addresses, not this machine alone"],
  ["[::1", false, "half a bracket"],
  ["", false, "nothing"],
];

test.each(hosts)("%j is loopback: %j (%s)", (host, expected) => expect(isLoopbackHost(host)).toBe(expected));

test("a Host header may name a port, and an address is not a name", () => {
  const authorities = ["localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "evil.example:80", "localhost:80:80"];
  expect(authorities.map(isLoopbackAuthority)).toEqual([true, true, true, true, false, false]);
  expect(["127.0.0.9", "::1", "localhost", "[::1]"].map(isLoopbackAddress)).toEqual([true, true, false, false]);
});

test("the host of a URL counts, as a URL parser reads it", () => {
  const urls = [
    "http://127.1:80/x",
    "https://LOCALHOST",
    "https://user@evil.example/@localhost",
    "localhost",
    "http://0x7f.1",
  ];
  expect(urls.map(isLoopbackUrl)).toEqual([true, true, false, false, true]);
});

const ROLES = ["owner", "viewer", "editor", "registry.pull"];

describe("the nearest name", () => {
  const FIELDS = ["name", "role", "parent", "description"];
  const rows: [string, string | undefined, (readonly string[])?][] = [
    ["editr", "editor"],
    ["Viewer", "viewer"],
    ["ownr", "owner"],
    ["administrator", undefined],
    ["pull", undefined],
    ["oewnr", undefined],
    // Two letters in the wrong order are one mistake.
    ["nmae", "name", FIELDS],
    ["anme", "name", FIELDS],
    ["naem", "name", FIELDS],
    ["ROEL", "role", FIELDS],
  ];
  for (const [name, expected, names = ROLES] of rows)
    it(`of ${name} is ${expected ?? "none"}`, () => expect(nearest(name, names)).toBe(expected));

  it("of a very long text is none", () => expect(nearest("r".repeat(1001), ["r".repeat(1000)])).toBe(undefined));
});

it("a suggestion has the nearest names first, also longer ones that contain the text", () => {
  expect(nearestNames("groups", ["groups.list", "roles.list", "group", "groups.create"])).toEqual([
    "group",
    "groups.list",
    "groups.create",
  ]);
  expect(suggestion("pull", ROLES)).toBe("; did you mean registry.pull?");
  expect(suggestion("editr", ROLES)).toBe("; did you mean editor?");
  expect(suggestion("twin", ["twin1", "twin2"], 2)).toBe("; did you mean twin1 or twin2?");
});

it("a suggestion is empty when no name is near, and ignores matches of two letters", () => {
  expect(suggestion("administrator", ROLES)).toBe("");
  expect(suggestion("ow", ROLES)).toBe("");
});
