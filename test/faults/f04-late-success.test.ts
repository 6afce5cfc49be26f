// A request times out, and a create succeeds later (docs/internals/faults.md#f4).
import type { Watch } from "../harness/small-engine/run.ts";
import type { Stage, Step } from "./scenario.ts";
import { CHANGES, COMMITTED_LATE, carryOut, runHurried, testFault, UNKNOWN } from "./table.ts";

/** Carries it out while the response to the first search is held. It has found nothing. */
const carryOutMeanwhile = (stage: Stage) => {
  const { testbed, subject } = stage;
  const atPoint: Watch["atPoint"] = async (point) => {
    const haveArrived = [subject.operation, subject.list].every((operation) => testbed.attempts(operation).length > 0);
    if (point === "after reply" && haveArrived) await carryOut(stage);
  };
  return runHurried(stage, { atPoint });
};

const HELD: Step = { hold: true };
const unsure = { attempts: 1, act: runHurried, fails: UNKNOWN };
const released = {
  attempts: 2,
  act: runHurried,
  checkDuring: ({ testbed }: Stage) => testbed.server.faults?.release(),
};
const ADOPTED = "the run fails with the entry pending, and the next one adopts the record";
const CREATED = "the run fails with the entry pending, and the next one finds nothing and creates it";

testFault("F4: no response in time", [
  ["committed meanwhile", "found before it gives up", ["create"], [HELD], { attempts: 1, act: carryOutMeanwhile }],
  ["committed after the run gave up", ADOPTED, ["create"], [HELD], COMMITTED_LATE],
  ["never committed", CREATED, ["create"], [{ ...HELD, reset: true }], unsure],
  ["of a request that may be repeated", "sent again", CHANGES, [HELD], released],
]);
