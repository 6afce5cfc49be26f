// 200 with a body that is truncated or not JSON (docs/faults.md#f7).
import { testFault } from "./table.ts";

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
