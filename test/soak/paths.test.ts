// The quick part of the paths; `npm run soak -- --only paths` is the long one.
import { expect, test } from "vitest";
import { paths } from "./paths.ts";

test("in 12 pairs of random organizations requests reach nothing that the paths do not have, and each path executes", async () => {
  const { figures, failures } = await paths({ seed: 1, rounds: 12 }, 600);
  expect(failures).toEqual([]);
  expect(figures["strict paths carried out"]).toBeGreaterThan(0);
  expect(figures["capabilities that a search reached"]).toBeGreaterThan(0);
});
