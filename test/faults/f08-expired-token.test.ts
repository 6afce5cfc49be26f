// 401 in the middle of a run (docs/faults.md#f8).
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { STACK, scenario } from "./scenario.ts";
import { ALL, acting, testFault } from "./table.ts";

testFault("F8: 401", [
  {
    what: "401 in mid-run",
    why: "one exchange, and the request once more",
    actions: ALL,
    steps: [{ status: 401 }],
    row: { attempts: 2, checkDuring: ({ testbed }) => void expect(testbed.attempts("ExchangeGet")).toHaveLength(2) },
  },
  {
    what: "401 again with the new token",
    why: "an error after the second attempt",
    actions: ALL,
    steps: [{ status: 401 }, { status: 401 }],
    row: { attempts: 2, fails: "The API token was refused" },
  },
]);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe.concurrent("F8: a token that expires in mid-run", () => {
  test.each(acting([...ALL, "replace"]))(
    "$action of a $kind ($adapter): one silent exchange, and the request once more",
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
});
