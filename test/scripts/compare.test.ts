// docs/why.md: each cell of its table has a source, and each row a command that shows it for this package.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const read = (name: string) => readFileSync(join(import.meta.dirname, "..", "..", "docs", name), "utf8");

const page = read("why.md");
const rows = [...page.matchAll(/^\| \[[^\]]+\]\(#([a-z-]+)\)/gm)].map(([, slug]) => slug as string);

const sectionOf = (slug: string): string =>
  page.split("\n## ").find((section) => section.split("\n")[0]?.toLowerCase().replaceAll(" ", "-") === slug) ?? "";

test("the table has all eight rows", () => {
  expect(rows).toEqual([
    "lost-responses",
    "previews-in-names",
    "review",
    "tests-of-access",
    "adoption-of-what-exists",
    "offline-server",
    "cost",
    "languages",
  ]);
});

describe.each(rows)("the section #%s", (slug) => {
  const cells = [...sectionOf(slug).matchAll(/^- \*\*(.+?):\*\* ([\s\S]*?)(?=^- \*\*|$(?![\s\S]))/gm)];

  test("says of each way where it is from, or that it is not known", () => {
    expect(cells.map(([, way]) => way)).toEqual(["This package", "Terraform provider", "The bridge", "`chainctl`"]);
    for (const [, way, text] of cells.slice(1))
      expect(text, way).toMatch(/\]\(https:|\]\(internals\/performance\.md|^not (known|measured)\.\n*$/);
  });

  test("has a command for this package", () => {
    expect(cells[0]?.[2]?.replaceAll(/\s+/g, " ")).toMatch(/`(npx pulumi-irm|npm (run|test)) [^`]+`/);
  });
});

test("each source is of a fixed version, and each figure of the cost is in docs/internals/performance.md", () => {
  const sources = page.match(/https:\/\/github\.com\/[^/]+\/[^/]+\/(blob|tree)\/[^)#]+/g) ?? [];
  for (const source of sources) expect(source).toMatch(/\/(blob|tree)\/v\d+\.\d+\.\d+(\/|$)/);
  const performance = read("internals/performance.md");
  const figures = sectionOf("cost").match(/\b\d+\.\d\b|\b1,\d{3}\b/g) ?? [];
  expect(figures.length).toBeGreaterThan(10);
  for (const figure of figures) expect(performance).toContain(figure);
});
