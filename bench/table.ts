// Puts the last results of engine.ts and choices.ts into README and docs/performance.md, between the markers.
//
//   npm run -s bench:table
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/base/project.mjs";
import type { ChoiceResults } from "./engine/choice.ts";
import { captionOf, choicesTable, formsTable, goalsTable, type Results, summaryTable } from "./engine/table.ts";

const read = <T>(name: string): T | undefined => {
  const file = join(root, "bench", name);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
};

const results = read<Results>("results.json");
const choices = read<ChoiceResults>("choices.json");

const texts: Record<string, string> = {
  ...(results && {
    summary: `${summaryTable(results)}\n\n${captionOf(results)}`,
    goals: `${goalsTable(results)}\n\n${captionOf(results)}`,
    forms: `${formsTable(results)}\n\n${captionOf(results)}`,
  }),
  ...(choices &&
    Object.fromEntries(
      ["parallel", "checkpoints", "split"].map((name) => [
        name,
        `${choicesTable(choices, name)}\n\n${captionOf(choices)}`,
      ]),
    )),
};

for (const name of ["README.md", join("docs", "performance.md")]) {
  const file = join(root, name);
  const text = readFileSync(file, "utf8");
  const filled = text.replace(
    /(<!-- bench ([a-z]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (all, start: string, id: string, end: string) =>
      texts[id] === undefined ? all : `${start}\n${texts[id]}\n\n${end}`,
  );
  if (filled !== text) writeFileSync(file, filled);
}
