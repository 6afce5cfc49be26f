import { describe, expect, it } from "vitest";
import { retryUntilVisible } from "../../../provider/reconcile/not-found.ts";
import { manualClock } from "../../harness/clock.ts";

describe("a look for what may be hidden", () => {
  /** Each look takes so long; the one that begins at `shownMs` or later finds it. */
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

  it("ends with what it finds", async () => {
    expect(await looking(5_000, { shownMs: 700 })).toEqual({ found: "it", begun: [0, 250, 750] });
  });

  it("looks with growing waits, and last when nothing can be hidden any more", async () => {
    expect(await looking(5_000)).toEqual({ found: undefined, begun: [0, 250, 750, 1_750, 3_250, 5_000] });
  });

  it("looks once more after a look that began before that and ended after it", async () => {
    expect(await looking(5_000, { takesMs: 8_000 })).toEqual({ found: undefined, begun: [0, 8_000] });
  });

  it.each([0, -1_000, -Infinity, Number.NaN])("looks once when it can be hidden until %d", async (hiddenMs) => {
    expect(await looking(hiddenMs)).toEqual({ found: undefined, begun: [0] });
  });
});
