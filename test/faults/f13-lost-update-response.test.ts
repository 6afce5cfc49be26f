// An update is committed, and its response is lost (docs/faults.md#f13).
import { testFault } from "./table.ts";

testFault("F13: a lost response to an update", [
  {
    what: "a reset after the commit of a change",
    why: "a PATCH may be repeated: sent again, to the same effect",
    actions: ["update"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 2 },
  },
]);
