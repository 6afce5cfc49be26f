// The quick part of the proof by kill -9; `npm run soak -- --only kill` is the long one.
import { expect, test } from "vitest";
import { kill } from "./kill.ts";

test("three kills under write load lose no acknowledged write, leave none half done, and keep the file intact", async () => {
  const { figures, failures } = await kill({ seed: 1, rounds: 3 });
  expect(failures).toEqual([]);
  expect(figures["rounds of kill -9"]).toBe(3);
  expect(figures["writes acknowledged"]).toBeGreaterThan(3);
  expect(figures["writes without an answer"]).toBeGreaterThan(0);
});
