// A delete is committed, and its response is lost (docs/faults.md#f14).
import { testFault } from "./table.ts";

testFault("F14: a lost response to a delete", [
  {
    what: "a reset after the commit of a delete",
    why: "NOT_FOUND of the second attempt is success",
    actions: ["delete"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 2 },
  },
]);
