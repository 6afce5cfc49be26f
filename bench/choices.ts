// What a user chooses, for docs/performance.md: `--parallel`, checkpoints of the file and the bucket backend, splitting a stack. Writes
// choices.json beside this file; bench/table.ts puts it into the page.
//
//   npm run -s bench:choices -- [RESOURCES]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/base/project.mjs";
import { countsFrom } from "./counts.ts";
import { type ChoiceResults, checkpoints, parallel, split } from "./engine/choice.ts";
import { install } from "./engine/install.ts";
import { measuredHere } from "./engine/place.ts";

const [resources] = countsFrom("bench:choices -- [RESOURCES]", [1000]);

const place = measuredHere();
const installations = await install();
const rows = [];
try {
  for (const choicesOf of [parallel, checkpoints, split]) {
    const choices = await choicesOf(installations.ours, resources);
    for (const { what, cpu, seconds } of choices)
      console.log(`${what}: ${cpu.toFixed(1)} CPU s, ${seconds.toFixed(1)} s`);
    rows.push(...choices);
  }
} finally {
  installations.remove();
}
const results: ChoiceResults = { ...place, resources, rows };
writeFileSync(join(root, "bench", "choices.json"), `${JSON.stringify(results, undefined, 2)}\n`);
