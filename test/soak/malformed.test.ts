// The quick part of the malformed messages; `npm run soak -- --only malformed` is the long one.
import { expect, test } from "vitest";
import { malformed } from "./malformed.ts";

test("600 malformed messages to every method of server and plugin are answered, and both serve on", async () => {
  const { figures, failures } = await malformed({ seed: 1, rounds: 600 });
  expect(failures).toEqual([]);
  expect(figures["malformed messages"]).toBe(600);
  expect(figures["methods of the plugin"]).toBe(16);
});
