// The quick part of `npm run soak -- --only unchecked-engine --only lost-machine-engine` (docs/internals/faults.md#f26, docs/internals/faults.md#f27).
import { expect, inject, test } from "vitest";
import { killedRuns } from "../soak/killed-engine.ts";

test.each([
  ["without checkpoints", "checkpoints"],
  ["with all that its machine had", "machine"],
] as const)("a run is killed %s: the up of the reverted program leaves what that declares", async (_, loses) => {
  const { figures, failures } = await killedRuns(loses, { seed: 1, rounds: 1, plugin: inject("pluginFolder") });
  expect(failures).toEqual([]);
  expect(figures["killed runs"]).toBe(1);
});
