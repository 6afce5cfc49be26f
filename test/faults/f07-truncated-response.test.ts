// 200 with a body that is truncated or no JSON (docs/faults.md#f7).
import { testFault } from "./table.ts";

testFault("F7: a response that cannot be read", [
  {
    what: "an answer that is cut off",
    why: "done, and not told: found",
    actions: ["create"],
    steps: [{ truncate: 20 }],
    row: { attempts: 1 },
  },
  {
    what: "200 with a page",
    why: "done, and not told: found",
    actions: ["create"],
    steps: [{ at: "after", status: 200, body: "html" }],
    row: { attempts: 1 },
  },
  {
    what: "an answer that is cut off, of a change",
    why: "sent again, to the same effect",
    actions: ["update"],
    steps: [{ truncate: 20 }],
    row: { attempts: 2 },
  },
]);
