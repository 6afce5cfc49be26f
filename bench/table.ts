// Puts the last results of engine.ts and choices.ts into docs/performance.md, between the markers.
//
//   npm run -s bench:table
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/base/project.mjs";
import { fillTables, tablesOf } from "./engine/table.ts";

const read = (name: string) => {
  const file = join(root, "bench", name);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
};

const page = join(root, "docs", "performance.md");
const text = readFileSync(page, "utf8");
const filled = fillTables(text, tablesOf(read("results.json"), read("choices.json")));
if (filled !== text) writeFileSync(page, filled);
