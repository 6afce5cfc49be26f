// The service answers 429 or 503, with or without Retry-After (docs/faults.md#f5).
import { expect } from "vitest";
import type { Scenario, Stage } from "./scenario.ts";
import { ALL, testFault } from "./table.ts";

/** The gaps between the attempts, by the server's clock. */
const gaps = ({ testbed, subject }: Stage): number[] => {
  const times = testbed.attempts(subject.operation).map(({ timeMs }) => timeMs);
  return times.slice(1).map((time, at) => time - (times[at] as number));
};

const waited =
  (least: number): NonNullable<Scenario["checkDuring"]> =>
  (stage) =>
    expect(Math.min(...gaps(stage))).toBeGreaterThanOrEqual(least);

testFault("F5: 429 and 503", [
  {
    what: "429 with Retry-After in seconds",
    why: "nothing was done: sent again at that time",
    actions: ALL,
    steps: [{ status: 429, retryAfter: 3 }],
    row: { attempts: 2, checkDuring: waited(3_000) },
  },
  {
    what: "503 with Retry-After, of a create",
    why: "searched first, then sent again at that time",
    actions: ["create"],
    steps: [{ status: 503, retryAfter: 15 }],
    row: { attempts: 2, checkDuring: waited(15_000) },
  },
  {
    what: "503 without Retry-After",
    why: "sent again, after a search if it is a create",
    actions: ALL,
    steps: [{ status: 503 }],
    row: { attempts: 2 },
  },
  {
    what: "503 without end",
    why: "five attempts, then an error",
    actions: ALL,
    steps: Array.from({ length: 9 }, () => ({ status: 503 })),
    row: { attempts: 5, fails: /a scripted failure with status 503/ },
  },
]);
