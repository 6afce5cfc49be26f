// The quick part of a proof; `npm run soak -- --only change` is the long one.
import { expect, inject, test } from "vitest";
import { changes } from "../soak/change.ts";

test("a random program: the review shows the rows that the update brings, and replays them", async () => {
  const { figures, failures } = await changes({ seed: 4, rounds: 1, plugin: inject("pluginFolder") });
  expect(failures).toEqual([]);
  expect(figures["updates of a case that went through, as reviewed"]).toBeGreaterThanOrEqual(1);
  expect(figures["rows of access of identities"]).toBeGreaterThan(0);
});
