// The tables that `npm run bench:table` writes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fillTables, tablesOf } from "./engine/table.ts";

const root = join(import.meta.dirname, "..", "..");
const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");

const page = read("docs", "internals", "performance.md");
const tables = tablesOf(JSON.parse(read("test", "bench", "recorded", "results.json")));

test("docs/internals/performance.md shows the figures of the last run, and all of them", () => {
  const markers = [...page.matchAll(/<!-- bench ([a-z]+) -->/g)].map(([, id]) => id);
  expect(markers.toSorted()).toEqual(Object.keys(tables).toSorted());
  expect(fillTables(page, tables)).toBe(page);
});

test("a table replaces the one between its markers, and one that was not measured stays", () => {
  const old = "a\n<!-- bench goals -->\n\nold\n\n<!-- end -->\nb\n<!-- bench split -->\n\nold\n\n<!-- end -->\n";
  expect(fillTables(old, { goals: "new" })).toBe(old.replace("old", "new"));
});
