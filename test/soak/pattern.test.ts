// The quick part of the proof that rules decide by patterns as the exchange does; `npm run soak -- --only patterns` is the long one.
import { expect, test } from "vitest";
import { patterns } from "./pattern.ts";

test("100 random identities and pairs of patterns are judged as the exchange and the matcher do", async () => {
  const { figures, failures } = await patterns({ seed: 1, rounds: 100 });
  expect(failures).toEqual([]);
  expect(figures["tokens accepted"]).toBeGreaterThan(5);
  expect(figures["pairs with a text in common"]).toBeGreaterThan(5);
});
