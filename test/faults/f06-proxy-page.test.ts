import type { Step } from "./scenario.ts";
import { CHANGES, testFault, UNKNOWN } from "./table.ts";

const PAGE: Step = { at: "after", status: 502, body: "html" };
const [FAILED, GONE] = [500, 504].map((status): Step => ({ status, body: "html" })) as [Step, Step];
const LATER = "it may still arrive, so it is not sent again; the next run finds nothing and creates it";

testFault("F6: a proxy's page", [
  ["502 after a create's commit", "the outcome is unknown: the record is found", ["create"], [PAGE], { attempts: 1 }],
  ["502 after the commit", "may be repeated: sent again", CHANGES, [PAGE], { attempts: 2 }],
  ["500, which may be permanent", "the next run does the rest", CHANGES, [FAILED], { attempts: 1, fails: "500" }],
  ["504 before the commit of a create", LATER, ["create"], [GONE], { attempts: 1, fails: UNKNOWN }],
]);
