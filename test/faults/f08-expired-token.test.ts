import { expect } from "vitest";
import type { Scenario, Step } from "./scenario.ts";
import { ALL, testFault } from "./table.ts";

const EXPIRED: Step = { status: 401 };
const once: Scenario["checkDuring"] = ({ testbed }) => void expect(testbed.attempts("ExchangeGet")).toHaveLength(2);
const refused = { attempts: 2, fails: "The API token was refused" };

testFault("F8: 401", [
  ["in mid-run", "one exchange, and the request once more", ALL, [EXPIRED], { attempts: 2, checkDuring: once }],
  ["again with the new token", "an error after the second attempt", ALL, [EXPIRED, EXPIRED], refused],
]);
