// docs/internals/architecture.md#add-a-kind lists the files of a kind. Every kind is in them, and there are no more than nine.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isManaged, type Resource, resources, toSnake } from "../../schema/index.ts";
import { root } from "../harness/api-process.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const [, section = ""] = read("docs/internals/architecture.md").split("\n## Add a kind\n");
const files = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| `([^`]+)` \|/gm)].map(([, file = ""]) => file);

test("a kind has at most nine files", () => {
  expect(files.length).toBeGreaterThan(5);
  expect(files.length).toBeLessThanOrEqual(9);
});

describe.each(Object.values<Resource>(resources).filter(isManaged))("$type", ({ type, field, plural }) => {
  const own = toSnake(field).replaceAll("_", "-");
  const capitalized = plural.charAt(0).toUpperCase() + plural.slice(1);

  test.each(files)("is in %s", (file) => {
    const text = read(file.replace(/\btag\b/, own));
    const names = file.endsWith(".sql") ? [`CREATE TABLE ${toSnake(plural)} (`] : [type, field, capitalized];
    expect(names.filter((name) => text.includes(name))).not.toEqual([]);
  });
});
