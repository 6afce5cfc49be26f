// The quick part of the model-based test; `npm run soak -- --only model` is the long one.
import { expect, test } from "vitest";
import { model } from "./model.ts";

test("500 random operations are answered as docs/contract.md says", async () => {
  const { figures, failures } = await model({ seed: 1, rounds: 500 });
  expect(failures).toEqual([]);
  expect(figures["operations carried out"]).toBeGreaterThanOrEqual(500);
});
