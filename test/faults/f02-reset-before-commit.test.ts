// The connection is reset before the service reads the request (docs/faults.md#f2).
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
