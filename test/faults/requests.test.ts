// What the network or the service does to one request: faults 2, 3, 5, 7, 13 and 14 of docs/faults.md.
import { expect } from "vitest";
import type { Scenario, Stage } from "./scenario.ts";
import { ALL, testFault } from "./table.ts";

testFault("F2: a reset before the request is carried out", [
  {
    what: "a reset before the request is carried out",
    why: "sent again, after a search if it is a create",
    actions: ALL,
    steps: [{ reset: true }],
    row: { attempts: 2 },
  },
  {
    what: "three resets before the request is carried out",
    why: "sent again, at most five times",
    actions: ALL,
    steps: [{ reset: true }, { reset: true }, { reset: true }],
    row: { attempts: 4 },
  },
]);

testFault("F3: a reset after the commit of a create", [
  {
    what: "a reset after the commit",
    why: "the record is found and adopted: one POST",
    actions: ["create", "replace"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 1 },
  },
  {
    what: "a reset before, then one after the commit",
    why: "the record of the second POST is found",
    actions: ["create"],
    steps: [{ reset: true }, { at: "after", reset: true }],
    row: { attempts: 2 },
  },
]);

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

testFault("F7: a response that cannot be read", [
  {
    what: "a truncated response",
    why: "created without a readable response: found",
    actions: ["create"],
    steps: [{ truncate: 20 }],
    row: { attempts: 1 },
  },
  {
    what: "200 with a page",
    why: "created without a readable response: found",
    actions: ["create"],
    steps: [{ at: "after", status: 200, body: "html" }],
    row: { attempts: 1 },
  },
  {
    what: "a truncated response to an update",
    why: "sent again, to the same effect",
    actions: ["update"],
    steps: [{ truncate: 20 }],
    row: { attempts: 2 },
  },
]);

testFault("F13: a lost response to an update", [
  {
    what: "a reset after the commit of a change",
    why: "a PATCH may be repeated: sent again, to the same effect",
    actions: ["update"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 2 },
  },
]);

testFault("F14: a lost response to a delete", [
  {
    what: "a reset after the commit of a delete",
    why: "NOT_FOUND of the second attempt is success",
    actions: ["delete"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 2 },
  },
]);
