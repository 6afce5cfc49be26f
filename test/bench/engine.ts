// What the package costs its users, against a provider that answers at once, and against the way Pulumi's docs show. Prints a table
// and writes results.json beside this file.
//
//   npm run -s bench -- [--quick] [--only ID,ID] [--rounds N]
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/base/project.mjs";
import { engineVersion } from "../../scripts/engine/version.mjs";
import { runScript } from "../support/flags.ts";
import { install } from "./engine/install.ts";
import { type Figures, type SubjectName, subjects } from "./engine/measure.ts";
import { mediansOf, rowOf } from "./engine/rows.ts";
import { type BenchFlags, captionOf, goalsTable, parseBench, type Results, usage } from "./engine/table.ts";

const log = (text: string) => process.stderr.write(`${text}\n`);

const bench = async ({ plans, resources, rounds }: BenchFlags): Promise<number> => {
  const place = { machine: machine(), date: new Date().toISOString().slice(0, 10), commit: commit() };
  log("building the package");
  const installations = await install();
  const failed = new Set<SubjectName>();
  const measured: Figures[] = [];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      log(`\nround ${round} of ${rounds}`);
      const needed = new Set(plans.flatMap(({ needs }) => needs));
      const names = (Object.keys(subjects) as SubjectName[]).filter((name) => needed.has(name));
      // Each side is the first one in turn.
      if (round % 2 === 0) names.reverse();
      const figures: Figures = {};
      for (const name of names)
        try {
          Object.assign(figures, await subjects[name]({ installations, resources, log }));
        } catch (error) {
          // The others are still measured.
          failed.add(name);
          log(`${name} failed: ${(error as Error).message}`);
        }
      measured.push(figures);
    }
  } finally {
    installations.remove();
  }
  const rows = plans.flatMap((plan) => rowOf(plan, measured) ?? []);
  const results: Results = { ...place, resources, rounds, rows, figures: mediansOf(measured) };
  writeFileSync(join(root, "test", "bench", "recorded", "results.json"), `${JSON.stringify(results, undefined, 2)}\n`);
  process.stdout.write(`${captionOf(results)}\n\n${goalsTable(results)}\n`);
  const missed = rows.filter(({ met }) => !met).map(({ id }) => id);
  if (missed.length > 0)
    process.stdout.write(`\n${missed.length} of ${rows.length} goals missed: ${missed.join(", ")}\n`);
  if (failed.size > 0) log(`\nfailed: ${[...failed].join(", ")}`);
  return failed.size > 0 ? 1 : 0;
};

const machine = (): string => {
  const [{ model } = { model: "an unknown processor" }, ...others] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${others.length + 1} cores of ${model}, ${memory} GiB, Node ${process.versions.node}, Pulumi ${engineVersion}`;
};

/** What is measured is the package: changes of the benchmarks and the documents are none. */
const commit = (): string => {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench", ":!docs") !== "";
  return git("rev-parse", "--short", "HEAD") + (isChanged ? " with changes" : "");
};

await runScript("bench", usage, async (args) => {
  const flags = parseBench(args);
  if (!flags.help) return await bench(flags);
  process.stdout.write(usage);
  return 0;
});
