// The quick part of the changes; `npm run soak -- --only changes` is the long one.
import { expect, test } from "vitest";
import { changes } from "./change.ts";

test("changes of 3 random organizations give the same records and the same access when they are carried out again", async () => {
  const { figures, failures } = await changes({ seed: 1, rounds: 3 });
  expect(failures).toEqual([]);
  expect(figures.writes).toBeGreaterThan(3 * 20);
  expect(figures.rows).toBeGreaterThan(0);
});
