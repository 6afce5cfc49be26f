// 401 in the middle of a run (docs/faults.md#f8).
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Scenario, STACK, type Step, scenario } from "./scenario.ts";
import { ALL, acting, testFault } from "./table.ts";

const EXPIRED: Step = { status: 401 };
const once: Scenario["checkDuring"] = ({ testbed }) => void expect(testbed.attempts("ExchangeGet")).toHaveLength(2);
const refused = { attempts: 2, fails: "The API token was refused" };

testFault("F8: 401", [
  ["in mid-run", "one exchange, and the request once more", ALL, [EXPIRED], { attempts: 2, checkDuring: once }],
  ["again with the new token", "an error after the second attempt", ALL, [EXPIRED, EXPIRED], refused],
]);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test.concurrent.each(acting([...ALL, "replace"]))(
  "F8: a token that expires in mid-run: $action of a $kind ($adapter): one silent exchange, and the request once more",
  (row) =>
    scenario({
      ...row,
      act: async ({ testbed, subject }) => {
        // As on a runner that refreshes its own token.
        const file = join(testbed.folder, "identity-token");
        const renewToken = async () => writeFileSync(file, await testbed.mintToken());
        await renewToken();
        const engine = testbed.engine(STACK, { env: { IRM_IDENTITY_TOKEN: "", IRM_IDENTITY_TOKEN_FILE: file } });
        const run = engine.start("up", subject.after, { point: "before send", of: subject.method });
        await run.paused;
        testbed.advanceClock(HOUR_MS + MINUTE_MS);
        await renewToken();
        run.resume();
        const outcome = await run.outcome;
        await engine.end();
        // The line for the reviewer.
        expect(engine.messages.filter((text) => !text.startsWith("RoleBinding subject "))).toEqual([]);
        return outcome;
      },
      attempts: 2,
      checkDuring: ({ testbed, subject }) => {
        expect(testbed.attempts(subject.operation).map(({ carriedOut }) => carriedOut)).toEqual([false, true]);
        expect(testbed.attempts("ExchangeGet")).toHaveLength(2);
      },
    }),
);
