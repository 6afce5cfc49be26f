// The quick part of the random runs of the provider; `npm run soak:provider` is the long one.
import { expect, test } from "vitest";
import { ADAPTERS } from "../harness/small-engine/provider.ts";
import { providerSoak } from "./provider.ts";

test.each(ADAPTERS)(
  "ten runs with one request in five failing, three of them killed: nothing leaked, duplicated or lost (%s)",
  async (adapter) => {
    const { figures, failures } = await providerSoak({ adapter, seed: 1, cycles: 10, kills: 3, lanes: 2 });
    expect(failures).toEqual([]);
    expect(figures.cycles).toBeGreaterThanOrEqual(10);
    expect(figures).toMatchObject({ "kills -9": 3, leaked: 0, duplicated: 0, lost: 0 });
    expect(figures["requests that met a fault"]).toBeGreaterThan(5);
  },
);

test("four runs without checkpoints, two of them killed: what is live is what the program declares then", async () => {
  const about = { seed: 1, cycles: 4, kills: 2, lanes: 2, mode: "no checkpoints" } as const;
  const { figures, failures } = await providerSoak({ adapter: "dynamic", ...about });
  expect(failures).toEqual([]);
  expect(figures).toMatchObject({ "kills -9": 2, leaked: 0, duplicated: 0, lost: 0 });
});

test("three runs killed with all that their machine had: nothing leaked, duplicated or lost", async () => {
  const options = { adapter: "dynamic", seed: 5, cycles: 6, kills: 3, lanes: 1, mode: "empty machine" } as const;
  const { figures, failures } = await providerSoak(options);
  expect(failures).toEqual([]);
  expect(figures).toMatchObject({ "kills -9": 3, leaked: 0, duplicated: 0, lost: 0 });
});
