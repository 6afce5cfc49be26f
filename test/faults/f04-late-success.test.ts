// A request times out, and a create succeeds later (docs/faults.md#f4).
import type { Watch } from "../harness/small-engine/run.ts";
import type { Stage } from "./scenario.ts";
import { CHANGES, testFault, UNKNOWN } from "./table.ts";

// Real time, in which a request must come to a server on loopback: nothing else depends on it.
const HURRIED_MS = 3_000;

/** Its request has little time, since no answer comes. */
const hurried = ({ engine, subject: { after, method } }: Stage, further: Watch = {}) =>
  engine.run("up", after, { hurry: { ms: HURRIED_MS, method }, ...further });

testFault("F4: no response in time", [
  {
    what: "no answer in time, and a commit while the run looks for it",
    why: "found before the run gives up",
    actions: ["create"],
    steps: [{ hold: true }],
    row: {
      attempts: 1,
      act: (stage) => {
        const { testbed, subject } = stage;
        // The first look has found nothing, and does not know that yet.
        const reached: Watch["reached"] = async (point) => {
          const came = [subject.operation, subject.list].every((operation) => testbed.attempts(operation).length > 0);
          if (point !== "after reply" || !came) return;
          testbed.server.faults?.release();
          await testbed.came(subject.operation, 1, true);
        };
        return hurried(stage, { reached });
      },
    },
  },
  {
    what: "no answer in time, and a commit after the run gave up",
    why: "the run fails with the intent open, the next one takes the record",
    actions: ["create"],
    steps: [{ hold: true }],
    row: {
      attempts: 1,
      act: (stage) => hurried(stage),
      fails: UNKNOWN,
      seen: ({ testbed, subject }) => {
        testbed.server.faults?.release();
        return testbed.came(subject.operation, 1, true);
      },
    },
  },
  {
    what: "no answer in time, and no commit ever",
    why: "the run fails with the intent open, the next one finds nothing and makes it",
    actions: ["create"],
    steps: [{ hold: true, reset: true }],
    row: { attempts: 1, act: (stage) => hurried(stage), fails: UNKNOWN },
  },
  {
    what: "no answer in time, of what may be repeated",
    why: "sent again",
    actions: CHANGES,
    steps: [{ hold: true }],
    row: { attempts: 2, act: (stage) => hurried(stage), seen: ({ testbed }) => testbed.server.faults?.release() },
  },
]);
