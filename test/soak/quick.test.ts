// The quick part of each long proof; `npm run soak -- --only NAME` is the long one.
import { expect, test } from "vitest";
import { copies } from "./copy.ts";
import { exports } from "./export.ts";
import { kill } from "./kill.ts";
import { malformed } from "./malformed.ts";
import { model } from "./model.ts";
import type { PartOptions, PartResult } from "./part.ts";
import { paths } from "./paths.ts";
import { patterns } from "./pattern.ts";
import { replays } from "./replay.ts";

/** `least` is by the names of the report. */
const PARTS: {
  what: string;
  prove(options: PartOptions): Promise<PartResult>;
  rounds: number;
  least: Readonly<Record<string, number>>;
}[] = [
  {
    what: "three kills under write load lose no acknowledged write, leave none half done, and keep the file intact",
    prove: kill,
    rounds: 3,
    least: { "rounds of kill -9": 3, "writes acknowledged": 4, "writes without an answer": 1 },
  },
  {
    what: "500 random operations are answered as docs/internals/contract.md says",
    prove: model,
    rounds: 500,
    least: { "operations carried out": 500 },
  },
  {
    what: "600 malformed messages to every method of server and plugin are answered, and both serve on",
    prove: malformed,
    rounds: 600,
    least: { "malformed messages": 600, "methods of the plugin": 16 },
  },
  {
    what: "100 random identities and pairs of patterns are judged as the exchange and the matcher do",
    prove: patterns,
    rounds: 100,
    least: { "tokens accepted": 6, "pairs with a text in common": 6 },
  },
  {
    what: "in 12 pairs of random organizations requests reach nothing that the paths do not have, and each path executes",
    prove: (options) => paths(options, 600),
    rounds: 12,
    least: { "strict paths carried out": 1, "capabilities that a search reached": 1 },
  },
  {
    what: "copies of 3 random organizations have every list as it is, field by field",
    prove: copies,
    rounds: 3,
    least: { records: 90 },
  },
  {
    what: "changes of 3 random organizations give the same records and the same access when they are carried out again",
    prove: replays,
    rounds: 3,
    least: { "writes of these": 60, "rows of these": 1 },
  },
  {
    what: "4 random organizations are adopted without a write, and are alike on a fresh service",
    prove: exports,
    rounds: 4,
    least: { "records that a resource adopted": 50, "resources created on a fresh service": 50 },
  },
];

test.each(PARTS)("$what", async ({ prove, rounds, least }) => {
  const { figures, failures } = await prove({ seed: 1, rounds });
  expect(failures).toEqual([]);
  for (const [name, count] of Object.entries(least)) expect(figures[name], name).toBeGreaterThanOrEqual(count);
});
