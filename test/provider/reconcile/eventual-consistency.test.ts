import { describe, expect, it } from "vitest";
import { retryUntilVisible } from "../../../provider/recovery/not-found.ts";
import { manualClock } from "../../harness/clock.ts";

describe("a search for a record that may be hidden", () => {
  /** Each search takes so long; one that begins at `shownMs` or later finds the record. */
  const looking = async (hiddenMs: number, { takesMs = 0, shownMs = Infinity } = {}) => {
    const clock = manualClock();
    const begun: number[] = [];
    const look = async () => {
      begun.push(clock.now());
      const found = clock.now() >= shownMs ? "it" : undefined;
      clock.advance(takesMs);
      return found;
    };
    return { found: await retryUntilVisible(clock, look, () => hiddenMs), begun };
  };

  it("ends with the record that it finds", async () => {
    expect(await looking(5_000, { shownMs: 700 })).toEqual({ found: "it", begun: [0, 250, 750] });
  });

  it("retries with growing waits, the last time after the grace period", async () => {
    expect(await looking(5_000)).toEqual({ found: undefined, begun: [0, 250, 750, 1_750, 3_250, 5_000] });
  });

  it("retries once after an attempt that began before that and ended after it", async () => {
    expect(await looking(5_000, { takesMs: 8_000 })).toEqual({ found: undefined, begun: [0, 8_000] });
  });

  it.each([0, -1_000, -Infinity, Number.NaN])("tries once when the record can be hidden until %d", async (hiddenMs) => {
    expect(await looking(hiddenMs)).toEqual({ found: undefined, begun: [0] });
  });
});
