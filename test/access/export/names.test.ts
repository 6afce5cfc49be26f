// Names of exported records: readable, unique, and the same whatever the order of the lists.
import fc from "fast-check";
import { expect, test } from "vitest";
import { identifier, type Named, slug, uniqueNames } from "../../../access/export/names.ts";

const root = "a".repeat(40);
const segment = (n: number): string => n.toString(16).padStart(16, "0");
const named = (n: number, words: string, path = "/"): Named => ({
  ...{ uid: `${root}/${segment(n)}`, words: [words], path, fallback: "group" },
});
const namesOf = (...records: Named[]) => records.map(({ uid }) => uniqueNames(records).get(uid));

test.each([
  ["release workflow", "release-workflow"],
  ["Platform / SRE", "platform-sre"],
  ["...", ""],
  ["é😀", ""],
  [`"); process.exit(1); ("`, "process-exit-1"],
  ["a".repeat(300), "a".repeat(80)],
])("%j has the slug %j", (text, expected) => {
  expect(slug(text)).toBe(expected);
});

test("a name is that of the record; of equal ones, the path of the group decides, then the uid", () => {
  expect(namesOf(named(1, "platform"))).toEqual(["platform"]);
  expect(namesOf(named(1, "registry", "platform"), named(2, "registry", "product"))).toEqual([
    "platform-registry",
    "product-registry",
  ]);
  expect(namesOf(named(1, "a b", "p"), named(2, "a-b", "p"), named(3, "other"))).toEqual([
    `a-b-${segment(1)}`,
    `a-b-${segment(2)}`,
    "other",
  ]);
  // As variables these are equal.
  expect(namesOf(named(1, "a 1", "p"), named(2, "a1", "q"))).toEqual(["p-a-1", "q-a1"]);
  expect(namesOf(named(1, "..."))).toEqual(["group"]);
});

test("any records have names of their own, in any order of the list", () => {
  const records = fc.uniqueArray(
    fc.record({
      n: fc.nat(50),
      words: fc.constantFrom("a", "a 1", "a1", "1", "", "a-b", "b", `a-${segment(1)}`),
      path: fc.constantFrom("", "/", "a", "a/b"),
    }),
    { selector: ({ n }) => n },
  );
  fc.assert(
    fc.property(records, (all) => {
      const list = all.map(({ n, words, path }) => named(n, words, path));
      const names = uniqueNames(list);
      expect(new Set([...names.values()].map((name) => identifier(name).toLowerCase())).size).toBe(list.length);
      for (const name of names.values()) expect(identifier(name)).toMatch(/^[a-z_][a-zA-Z0-9]*$/);
      expect(new Map(uniqueNames([...list].reverse()))).toEqual(new Map([...names].reverse()));
    }),
  );
});
