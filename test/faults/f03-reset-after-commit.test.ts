// The connection is reset after the commit of a create (docs/faults.md#f3).
import { testFault } from "./table.ts";

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
