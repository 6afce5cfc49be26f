// A review and a verification that come too early after a killed run are made again.
import { afterEach, expect, test, vi } from "vitest";
import { untilVisible } from "../../cli/until-visible.ts";

afterEach(() => void vi.restoreAllMocks());

/** Makes one after another, the last one again and again. */
const making = async (made: { isTooEarly: boolean; isGood?: true }[]) => {
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  let count = 0;
  const make = async () => {
    count += 1;
    return made[Math.min(count, made.length) - 1] as (typeof made)[number];
  };
  const last = await untilVisible("irm review", make, ({ isGood }) => isGood === true, { sleep });
  return { last, count, waits, text: stderr.mock.calls.map(([line]) => line) };
};

test("until it is not too early, every ten seconds, and says so", async () => {
  const { last, count, waits, text } = await making([
    { isTooEarly: true },
    { isTooEarly: true },
    { isTooEarly: false },
  ]);
  expect({ last, count, waits }).toEqual({ last: { isTooEarly: false }, count: 3, waits: [10_000, 10_000] });
  const line = "irm review: what an interrupted run has created may not be visible yet: again in 10 s\n";
  expect(text).toEqual([line, line]);
});

test.each([
  ["is not too early", { isTooEarly: false }],
  ["is good as it is", { isTooEarly: true, isGood: true as const }],
])("not one that %s", async (_title, made) => {
  expect(await making([made])).toMatchObject({ count: 1, waits: [], text: [] });
});

test("for two minutes at most", async () => {
  const { last, waits } = await making([{ isTooEarly: true }]);
  expect(last.isTooEarly).toBe(true);
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(120_000);
});
