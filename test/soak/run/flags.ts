// Flags of `npm run soak`: which parts run, and the seed of what is random in them. The report of a proof.
import { randomInt } from "node:crypto";
import { parseCount, UsageError } from "../../../cli/irm-command.ts";
import { parseFlags } from "../../support/flags.ts";
import type { PartResult } from "../part.ts";
import { type PartName, parts } from "../parts.ts";

export const log = (text: string): void => void process.stderr.write(`${text}\n`);

const names = Object.keys(parts) as PartName[];

export const list = names.map((name) => `${name.padEnd(13)} ${parts[name].goal}\n`).join("");

export const usage = `Usage: npm run soak -- [FLAGS]

Runs the long proofs and prints their counts. Exits with 1 when one of them fails.

  --only NAME   run this part only; repeat the flag for several: ${names.join(", ")}
  --seed N      seed from 1 to 999999; the same seed repeats a run (default: a random seed, which is printed)
  --rounds N    how much each part does, in place of the number of its goal: cases, organizations, operations
  --list        list the parts
  --help        print this help
`;

type SoakFlags = { show: "help" | "list" } | { show?: undefined; names: PartName[]; seed: number; rounds?: number };

export const parseSoak = (args: string[], anySeed = () => randomInt(1, 1_000_000)): SoakFlags => {
  const flags = parseFlags(args, {
    only: { type: "string", multiple: true },
    seed: { type: "string" },
    rounds: { type: "string" },
    list: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  });
  if (flags.help) return { show: "help" };
  if (flags.list) return { show: "list" };
  const unknown = flags.only?.find((name) => !(names as string[]).includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only takes one of ${names.join(", ")}, not ${JSON.stringify(unknown)}`);
  const seed = flags.seed === undefined ? anySeed() : parseCount("--seed", flags.seed);
  return {
    names: names.filter((name) => flags.only?.includes(name) ?? true),
    seed,
    ...(flags.rounds !== undefined && { rounds: parseCount("--rounds", flags.rounds) }),
  };
};

/** The counts of a proof, and what was wrong. */
export const resultText = (name: string, { figures, failures }: PartResult): string => {
  const rows = Object.entries(figures).map(([what, figure]) => `  ${what.padEnd(44)} ${figure}`);
  return [`${name}: ${failures.length > 0 ? "FAILED" : "passed"}`, ...rows, ...failures].join("\n");
};
