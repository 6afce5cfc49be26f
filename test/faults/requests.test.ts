// What the network or the service does to one request: faults 2, 3, 5 to 8, 13 and 14 of docs/internals/faults.md.
import { expect } from "vitest";
import type { Scenario, Stage, Step } from "./scenario.ts";
import { ALL, CHANGES, testFault, UNKNOWN } from "./table.ts";

const RESET: Step = { reset: true };
const LOST: Step = { at: "after", reset: true };

testFault("F2: a reset before the request is carried out", [
  ["once", "sent again, after a search if it is a create", ALL, [RESET], { attempts: 2 }],
  ["three times", "sent again, at most five times", ALL, [RESET, RESET, RESET], { attempts: 4 }],
]);

testFault("F3: a reset after the commit of a create", [
  ["at once", "the record is found and adopted: one POST", ["create", "replace"], [LOST], { attempts: 1 }],
  ["after one before it", "the record of the second POST is found", ["create"], [RESET, LOST], { attempts: 2 }],
]);

testFault("F13: a lost response to an update", [
  ["a reset", "a PATCH may be repeated: sent again, to the same effect", ["update"], [LOST], { attempts: 2 }],
]);

testFault("F14: a lost response to a delete", [
  ["a reset", "NOT_FOUND of the second attempt is success", ["delete"], [LOST], { attempts: 2 }],
]);

/** The gaps between the attempts, by the server's clock. */
const gaps = ({ testbed, subject }: Stage): number[] => {
  const times = testbed.attempts(subject.operation).map(({ timeMs }) => timeMs);
  return times.slice(1).map((time, at) => time - (times[at] as number));
};

/** A second attempt, at least so long after the first. */
const after = (leastMs: number): Pick<Scenario, "attempts" | "checkDuring"> => ({
  attempts: 2,
  checkDuring: (stage) => expect(Math.min(...gaps(stage))).toBeGreaterThanOrEqual(leastMs),
});

const THROTTLED: Step = { status: 429, retryAfter: 3 };
const BUSY: Step = { status: 503 };
const FOR_EVER = { attempts: 5, fails: /a scripted failure with status 503/ };

testFault("F5: 429 and 503", [
  ["429 with Retry-After", "nothing was done: sent again then", ALL, [THROTTLED], after(3_000)],
  ["503 with Retry-After", "searched, then sent again then", ["create"], [{ ...BUSY, retryAfter: 15 }], after(15_000)],
  ["503 without Retry-After", "sent again, after a search if it is a create", ALL, [BUSY], { attempts: 2 }],
  ["503 without end", "five attempts, then an error", ALL, Array<Step>(9).fill(BUSY), FOR_EVER],
]);

const pageOf = (status: number): Step => ({ status, body: "html" });
const PAGE: Step = { at: "after", ...pageOf(502) };
const LATER = "it may still arrive, so it is not sent again; the next run finds nothing and creates it";

testFault("F6: a proxy's page", [
  ["502 after a create's commit", "the outcome is unknown: the record is found", ["create"], [PAGE], { attempts: 1 }],
  ["502 after the commit", "may be repeated: sent again", CHANGES, [PAGE], { attempts: 2 }],
  ["500, which may be permanent", "the next run does the rest", CHANGES, [pageOf(500)], { attempts: 1, fails: "500" }],
  ["504 before the commit of a create", LATER, ["create"], [pageOf(504)], { attempts: 1, fails: UNKNOWN }],
]);

const SUCCESS: Step = { ...PAGE, status: 200 };

testFault("F7: a response that cannot be read", [
  ["it is truncated", "created without a readable response: found", ["create"], [{ truncate: 20 }], { attempts: 1 }],
  ["it is a page", "created without a readable response: found", ["create"], [SUCCESS], { attempts: 1 }],
  ["it is truncated", "sent again, to the same effect", ["update"], [{ truncate: 20 }], { attempts: 2 }],
]);

const EXPIRED: Step = { status: 401 };
const once: Scenario["checkDuring"] = ({ testbed }) => void expect(testbed.attempts("ExchangeGet")).toHaveLength(2);
const refused = { attempts: 2, fails: "The API token was refused" };

testFault("F8: 401", [
  ["in mid-run", "one exchange, and the request once more", ALL, [EXPIRED], { attempts: 2, checkDuring: once }],
  ["again with the new token", "an error after the second attempt", ALL, [EXPIRED, EXPIRED], refused],
]);
