// The quick part of the replays; `npm run soak -- --only change` is the long one.
import { expect, test } from "vitest";
import { replays } from "./replay.ts";

test("changes of 3 random organizations give the same records and the same access when they are carried out again", async () => {
  const { figures, failures } = await replays({ seed: 1, rounds: 3 });
  expect(failures).toEqual([]);
  expect(figures["writes of these"]).toBeGreaterThan(3 * 20);
  expect(figures["rows of these"]).toBeGreaterThan(0);
});
