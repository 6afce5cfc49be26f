import { describe, expect, it } from "vitest";
import { nearest, nearestNames, suggestion } from "../../schema/index.ts";

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
