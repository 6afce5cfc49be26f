// The quick part of the mutated tokens; the long one is a part of `npm run soak`.
import { expect, it } from "vitest";
import { mutatedTokens } from "../../../soak/mutated-token.ts";
import { MUTATIONS } from "./mutation.ts";
import { CONTROLS } from "./target.ts";

it("1,000 mutated tokens are refused on every wire, and valid ones between them are accepted", async () => {
  const { figures, failures } = await mutatedTokens({ seed: 20_260_128, rounds: 1_000 });
  expect(failures).toEqual([]);
  expect(figures).toMatchObject({
    "mutated tokens refused": 1024,
    "kinds of mutation": Object.keys(MUTATIONS).length,
    // One fetch of two documents a wire, and one more for the first unknown key.
    "connections to the issuer": expect.toSatisfy((count: number) => count >= 4 && count <= 8),
  });
  expect(figures["good tokens taken between"]).toBeGreaterThan(4 * CONTROLS.length);
});
