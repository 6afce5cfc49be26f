// Runs the long proofs one by one. Prints progress on stderr, and the counts on stdout at the end.
import { runScript } from "../../support/flags.ts";
import type { PartResult } from "../part.ts";
import { type Part, type PartName, parts } from "../parts.ts";
import { list, log, parseSoak, resultText, usage } from "./flags.ts";

type Options = Omit<Parameters<Part["run"]>[0], "log">;

const runPart = async (name: PartName, options: Options): Promise<PartResult> => {
  const part: Part = parts[name];
  log(`\n== ${name}: ${part.goal}`);
  try {
    return await part.run({ ...options, log });
  } catch (error) {
    // The other parts still run.
    return { figures: {}, failures: [(error as Error).stack ?? String(error)] };
  }
};

const soak = async (names: readonly PartName[], options: Options): Promise<number> => {
  const { seed } = options;
  log(`seed ${seed}`);
  const tables: string[] = [];
  let failed = 0;
  for (const name of names) {
    const startMs = performance.now();
    const result = await runPart(name, options);
    if (result.failures.length > 0) failed += 1;
    const seconds = Math.round((performance.now() - startMs) / 1000);
    tables.push(resultText(name, { ...result, figures: { ...result.figures, seconds } }));
  }
  const passed = `${names.length - failed} parts passed, ${failed} failed`;
  process.stdout.write(`\n${tables.join("\n\n")}\n\nseed ${seed}: ${passed}\n`);
  return failed > 0 ? 1 : 0;
};

await runScript("soak", usage, async (args) => {
  const flags = parseSoak(args);
  if (flags.show === undefined) {
    const { names, ...options } = flags;
    return await soak(names, options);
  }
  process.stdout.write(flags.show === "help" ? usage : list);
  return 0;
});
