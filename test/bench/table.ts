// Puts the last results of engine.ts into docs/internals/performance.md, between the markers.
//
//   npm run -s bench:table
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/base/project.mjs";
import { fillTables, tablesOf } from "./engine/table.ts";

const results = JSON.parse(readFileSync(join(root, "test", "bench", "recorded", "results.json"), "utf8"));
const page = join(root, "docs", "internals", "performance.md");
const text = readFileSync(page, "utf8");
const filled = fillTables(text, tablesOf(results));
if (filled !== text) writeFileSync(page, filled);
