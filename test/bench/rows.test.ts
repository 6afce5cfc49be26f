// The figures of `npm run bench`: which rows it measures, and what it makes of the rounds.
import { describe, expect, test } from "vitest";
import { UsageError } from "../../cli/irm-command.ts";
import type { Figures } from "./engine/measure.ts";
import { plans, type RowPlan, rowOf } from "./engine/rows.ts";
import { parseBench } from "./engine/table.ts";

const planOf = (id: string) => plans.find((plan) => plan.id === id) as RowPlan;

describe("the flags", () => {
  test("measure every row three times by default, and once with --quick", () => {
    expect(parseBench([])).toEqual({ help: false, plans, resources: 1000, rounds: 3 });
    expect(parseBench(["--quick"])).toMatchObject({ plans, resources: 200, rounds: 1 });
    expect(parseBench(["--quick", "--rounds", "2"])).toMatchObject({ resources: 200, rounds: 2 });
  });

  test("--only takes ids, in the order of the table", () => {
    const { plans: only } = parseBench(["--only", "refresh,preview"]);
    expect(only.map(({ id }) => id)).toEqual(["preview", "refresh"]);
  });

  test("--only refuses a row that is not there", () => {
    expect(() => parseBench(["--only", "previews"])).toThrow(UsageError);
  });
});

test("a row is the median of the rounds with their spread, and says whether it meets its goal", () => {
  const rounds = [12, 15, 10].map((cpu) => ({ "dynamic.preview": cpu, "dynamic-floor.preview": 10 }));
  expect(rowOf(planOf("preview"), rounds)).toEqual({
    id: "preview",
    value: 1.2,
    unit: "x",
    against: "the floor",
    goal: 1.25,
    comparison: "<=",
    met: true,
    spread: [1, 1.5],
    sides: "12.0 and 10.0 CPU s",
  });
  expect(rowOf(planOf("preview"), rounds.slice(1, 2))).toMatchObject({ value: 1.5, met: false });
});

test("a row is missing where a measurement has failed in every round, and of the others where it has in one", () => {
  expect(rowOf(planOf("preview"), [{ "dynamic.preview": 12 }])).toBeUndefined();
  const rounds: Figures[] = [{ "dynamic.preview": 12 }, { "dynamic.preview": 11, "dynamic-floor.preview": 10 }];
  expect(rowOf(planOf("preview"), rounds)).toMatchObject({ value: 1.1, spread: [1.1, 1.1] });
});
