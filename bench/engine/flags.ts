// Flags of `npm run bench`.
import { parseCount, UsageError } from "../../cli/usage.ts";
import { parseFlags } from "../../scripts/base/flags.ts";
import { plans, type RowPlan } from "./rows.ts";

const ids = plans.map(({ id }) => id);

export const usage = `Usage: npm run bench -- [FLAGS]

Compares processor time, requests and bytes of state. Prints a table and writes bench/results.json. A row that misses its goal says
so; only a measurement that fails makes the exit code 1. Run nothing else on the machine meanwhile.

  --only ID,ID  measure these rows only: ${ids.join(", ")}
  --quick       200 resources instead of 1,000, and one round: whether everything can be measured
  --rounds N    rounds (default: 3; the figures are their medians)
  --help        print this help
`;

export interface BenchFlags {
  help: boolean;
  plans: readonly RowPlan[];
  resources: number;
  rounds: number;
}

export const parseBench = (args: string[]): BenchFlags => {
  const flags = parseFlags(args, {
    only: { type: "string", multiple: true },
    quick: { type: "boolean" },
    rounds: { type: "string" },
    help: { type: "boolean", short: "h" },
  });
  const only = flags.only?.flatMap((text) => text.split(","));
  const unknown = only?.find((id) => !ids.includes(id));
  if (unknown !== undefined)
    throw new UsageError(`--only takes rows of ${ids.join(", ")}, not ${JSON.stringify(unknown)}`);
  const isQuick = flags.quick === true;
  return {
    help: flags.help === true,
    plans: plans.filter(({ id }) => only?.includes(id) ?? true),
    resources: isQuick ? 200 : 1000,
    rounds: flags.rounds === undefined ? (isQuick ? 1 : 3) : parseCount("--rounds", flags.rounds),
  };
};
