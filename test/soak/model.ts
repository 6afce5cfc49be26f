// The model-based test: random commands against a reference server and against an oracle that is written from docs/contract.md;
// the first answer that differs is shrunk and reported.
import * as fc from "fast-check";
import { commands } from "./model/commands.ts";
import { createReal } from "./model/real.ts";
import type { PartOptions, PartResult } from "./part.ts";

// Long enough for full worlds, short enough to shrink.
const COMMANDS_MAX = 400;
const WORLDS_AT_ONCE = 5;

export const model = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const counts = { worlds: 0, commands: 0, requests: 0 };
  const failures: string[] = [];

  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: COMMANDS_MAX, size: "max" }), async (own) => {
    counts.worlds += 1;
    const { oracle, real } = await createReal(seed);
    try {
      await fc.asyncModelRun(() => ({ model: oracle, real }), own);
    } finally {
      counts.commands += real.counts.commands;
      counts.requests += real.counts.requests;
      await real.close();
    }
  });
  for (let i = 0; counts.commands < rounds && failures.length === 0; i += 1) {
    const details = await fc.check(property, { seed: seed + i, numRuns: WORLDS_AT_ONCE });
    if (details.failed) failures.push(`${fc.defaultReportMessage(details)}\n${details.errorInstance}`);
    log?.(`${counts.commands} of ${rounds} commands in ${counts.worlds} worlds, ${failures.length} divergences`);
  }
  return {
    figures: {
      "operations carried out": counts.commands,
      "requests of them": counts.requests,
      worlds: counts.worlds,
      divergences: failures.length,
    },
    failures,
  };
};
