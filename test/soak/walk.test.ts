// The quick part of the walks of lists; `npm run soak -- --only walk` is the long one.
import { expect, test } from "vitest";
import { walk } from "./walk.ts";

test("walks of 60 rows in 6 orders and 5 sizes of a page lose and repeat nothing while others write", async () => {
  const { figures, failures } = await walk({ seed: 1, rounds: 60 });
  expect(failures).toEqual([]);
  expect(figures["walks (size of a page by order)"]).toBe(30);
  expect(figures["rows added and taken away between pages"]).toBeGreaterThan(30 * 20);
});
