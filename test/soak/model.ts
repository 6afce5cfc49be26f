// Random commands against a server and an oracle written from docs/internals/contract.md; the first answer that differs is shrunk.
import * as fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../harness/clock.ts";
import * as commands from "./model/commands.ts";
import { createReal } from "./model/real.ts";
import type { PartOptions, PartResult } from "./part.ts";

// Long enough for full worlds, short enough to shrink.
const COMMANDS_MAX = 400;
const WORLDS_AT_ONCE = 5;

const advance = (ms: number): commands.Command => ({
  check: () => true,
  // Not counted: it is no operation of the API.
  run: (oracle, real) => real.advance(oracle, ms),
  toString: () => `advance ${ms} ms`,
});

const { createBatch, createBinding, createGroup, createIdentity, createRole, get, list, nextPage, remove, update } =
  commands;

/** Each as often as makes for full worlds. */
const COMMANDS: fc.Arbitrary<commands.Command>[] = [
  ...[createGroup, createIdentity, createRole, createBinding, createBatch, get, remove],
  ...[update, update, list, list, nextPage, nextPage, nextPage],
  fc.constantFrom(0, 1, 1, 1000, HOUR_MS, DAY_MS, 3 * DAY_MS, 3 * DAY_MS + 1).map(advance),
];

export const model = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const figures = { "operations carried out": 0, "requests of them": 0, worlds: 0 };
  const failures: string[] = [];

  const property = fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: COMMANDS_MAX, size: "max" }), async (own) => {
    figures.worlds += 1;
    const { oracle, real } = await createReal(seed);
    try {
      await fc.asyncModelRun(() => ({ model: oracle, real }), own);
    } finally {
      figures["operations carried out"] += real.counts.commands;
      figures["requests of them"] += real.counts.requests;
      await real.close();
    }
  });
  for (let i = 0; figures["operations carried out"] < rounds && failures.length === 0; i += 1) {
    const details = await fc.check(property, { seed: seed + i, numRuns: WORLDS_AT_ONCE });
    if (details.failed) failures.push(`${fc.defaultReportMessage(details)}\n${details.errorInstance}`);
    log?.(`${figures["operations carried out"]} of ${rounds} commands in ${figures.worlds} worlds`);
  }
  return { figures, failures };
};
