// The quick part of `npm run soak -- --only unchecked-engine --only lost-machine-engine` (docs/faults.md#f26, docs/faults.md#f27).
import { expect, inject, test } from "vitest";
import { lostByEngine, uncheckedByEngine } from "../soak/killed-engine.ts";

test.each([
  ["without checkpoints", uncheckedByEngine],
  ["with all that its machine had", lostByEngine],
])("a run is killed %s: the up of the reverted program leaves what that declares", async (_, prove) => {
  const { figures, failures } = await prove({ seed: 1, rounds: 1, plugin: inject("pluginFolder") });
  expect(failures).toEqual([]);
  expect(figures["killed runs"]).toBe(1);
});
