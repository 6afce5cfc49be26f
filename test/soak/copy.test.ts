// The quick part of the copies; `npm run soak -- --only copies` is the long one.
import { expect, test } from "vitest";
import { copies } from "./copy.ts";

test("copies of 3 random organizations have every list as it is, field by field", async () => {
  const { figures, failures } = await copies({ seed: 1, rounds: 3 });
  expect(failures).toEqual([]);
  expect(figures.records).toBeGreaterThan(3 * 30);
});
