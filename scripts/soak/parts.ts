// Runs the long proofs one by one. Prints progress on stderr, and the counts on stdout at the end.
import { UsageError } from "../../cli/usage.ts";
import type { PartResult } from "../../test/soak/part.ts";
import { type Part, type PartName, parts } from "../../test/soak/parts.ts";
import { list, parseSoak, usage } from "./flags.ts";

const say = (text: string) => process.stderr.write(`${text}\n`);
const print = (text: string) => process.stdout.write(`${text}\n`);

const runPart = async (name: PartName, seed: number): Promise<PartResult> => {
  const part: Part = parts[name];
  say(`\n== ${name}: ${part.goal}`);
  try {
    return await part.run({ seed, say });
  } catch (error) {
    // The other parts still run.
    return { figures: {}, failures: [(error as Error).stack ?? String(error)] };
  }
};

const table = (name: PartName, { figures, failures }: PartResult, seconds: number): string => {
  const rows = Object.entries({ ...figures, seconds }).map(([what, figure]) => `  ${what.padEnd(44)} ${figure}`);
  return [`${name}: ${failures.length > 0 ? "FAILED" : "passed"}`, ...rows, ...failures].join("\n");
};

const soak = async (names: readonly PartName[], seed: number): Promise<number> => {
  say(`seed ${seed}`);
  const tables: string[] = [];
  let failed = 0;
  for (const name of names) {
    const startMs = performance.now();
    const result = await runPart(name, seed);
    if (result.failures.length > 0) failed += 1;
    tables.push(table(name, result, Math.round((performance.now() - startMs) / 1000)));
  }
  print(`\n${tables.join("\n\n")}\n\nseed ${seed}: ${names.length - failed} parts passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
};

const main = async (args: string[]): Promise<number> => {
  try {
    const flags = parseSoak(args);
    if (flags.show !== undefined) {
      process.stdout.write(flags.show === "help" ? usage : list);
      return 0;
    }
    return await soak(flags.names, flags.seed);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`soak: ${error.message}\n\n${usage}`);
    return 2;
  }
};

process.exitCode = await main(process.argv.slice(2));
