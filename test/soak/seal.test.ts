// The quick part of the seals; `npm run soak -- --only seal` is the long one.
import { expect, test } from "vitest";
import { seals } from "./seal.ts";

test("eight updates under a seal bring no row of access that it does not show, whatever was changed by hand before", async () => {
  const { figures, failures } = await seals({ seed: 1, rounds: 8 });
  expect(failures).toEqual([]);
  expect(figures["cases that changed what the seal rests on"]).toBeGreaterThanOrEqual(4);
  expect(figures["updates that were refused a step"]).toBeGreaterThan(0);
  expect(figures["rows of access that updates brought"]).toBeGreaterThan(10);
});
