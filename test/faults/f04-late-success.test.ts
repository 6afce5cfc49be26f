// A request times out, and a create succeeds later (docs/faults.md#f4).
import type { Watch } from "../harness/small-engine/run.ts";
import type { Stage } from "./scenario.ts";
import { CHANGES, testFault, UNKNOWN } from "./table.ts";

// Real time in which a request must reach a server on loopback. Nothing else depends on it.
const HURRIED_MS = 3_000;

/** The timeout of its request is short, since no response arrives. */
const runWithShortTimeout = ({ engine, subject: { after, method } }: Stage, further: Watch = {}) =>
  engine.run("up", after, { shortTimeout: { ms: HURRIED_MS, method }, ...further });

testFault("F4: no response in time", [
  {
    what: "timed out, and committed while the run searches",
    why: "found before the run gives up",
    actions: ["create"],
    steps: [{ hold: true }],
    row: {
      attempts: 1,
      act: (stage) => {
        const { testbed, subject } = stage;
        // The response to the first search is held. It has found nothing.
        const atPoint: Watch["atPoint"] = async (point) => {
          const haveArrived = [subject.operation, subject.list].every(
            (operation) => testbed.attempts(operation).length > 0,
          );
          if (point !== "after reply" || !haveArrived) return;
          testbed.server.faults?.release();
          await testbed.waitForAttempts(subject.operation, 1, true);
        };
        return runWithShortTimeout(stage, { atPoint });
      },
    },
  },
  {
    what: "timed out, and committed after the run gave up",
    why: "the run fails with the entry pending, and the next one adopts the record",
    actions: ["create"],
    steps: [{ hold: true }],
    row: {
      attempts: 1,
      act: (stage) => runWithShortTimeout(stage),
      fails: UNKNOWN,
      checkDuring: ({ testbed, subject }) => {
        testbed.server.faults?.release();
        return testbed.waitForAttempts(subject.operation, 1, true);
      },
    },
  },
  {
    what: "timed out, and never committed",
    why: "the run fails with the entry pending, and the next one finds nothing and creates it",
    actions: ["create"],
    steps: [{ hold: true, reset: true }],
    row: { attempts: 1, act: (stage) => runWithShortTimeout(stage), fails: UNKNOWN },
  },
  {
    what: "timed out, of a request that may be repeated",
    why: "sent again",
    actions: CHANGES,
    steps: [{ hold: true }],
    row: {
      attempts: 2,
      act: (stage) => runWithShortTimeout(stage),
      checkDuring: ({ testbed }) => testbed.server.faults?.release(),
    },
  },
]);
