// The uid alone has the hierarchy (docs/contract.md#uids).
import { expect, test } from "vitest";
import {
  ancestorsOf,
  isAncestor,
  isAncestorOrSelf,
  isRoot,
  isUidp,
  levelOf,
  parentOf,
  rootOf,
} from "../../schema/index.ts";

const root = "0475f6ba1c2d3e4f5061728394a5b6c7d8e905b6";
const group = `${root}/b74ce966caf448d1`;
const leaf = `${group}/dda9aab2d2d90f9e`;

test("the parent of a record is its uid without the last segment, and a root has none", () => {
  expect([leaf, group, root].map(parentOf)).toEqual([group, root, ""]);
});

test("the root of every record is its first segment", () => {
  expect([leaf, group, root].map(rootOf)).toEqual([root, root, root]);
  expect([leaf, group, root].map(isRoot)).toEqual([false, false, true]);
});

test("the ancestors begin with the root and leave out the record", () => {
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
