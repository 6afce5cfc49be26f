// The quick part of the proof that the access graph agrees with the server; `npm run soak -- --only access` is the long one.
import { expect, test } from "vitest";
import { access } from "../soak/access.ts";

test("20 random organizations and changes are seen as the server decides, identity by group by capability", async () => {
  const { figures, failures } = await access({ seed: 1, rounds: 20 });
  expect(failures).toEqual([]);
  expect(figures["decisions of the server compared"]).toBeGreaterThan(100_000);
  expect(figures["rows of gains and losses"]).toBeGreaterThan(300);
});
