// The connection is refused, or the host name does not resolve (docs/faults.md#f1).
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { STACK, scenario } from "./scenario.ts";
import { ALL, acting } from "./table.ts";

// Another address than that of the last run: the move is confirmed there, and the way back.
const SILENT = "http://127.0.0.1:9";

describe.concurrent("F1: nobody listens", () => {
  test.each(acting(ALL))(
    "$action of a $kind: an error, nothing is done, and the next run does it",
    ({ kind, action }) =>
      scenario({
        kind,
        action,
        child: { env: { IRM_MOVED_FROM: SILENT } },
        act: async ({ testbed, subject }) => {
          const elsewhere = testbed.engine(STACK, {
            env: {
              IRM_BASE_URL: SILENT,
              IRM_MOVED_FROM: testbed.server.baseUrl,
              IRM_TOKEN: "for-nobody",
              IRM_JOURNAL: join(testbed.folder, `${STACK}.journal`),
            },
          });
          return elsewhere.run("up", subject.after);
        },
        fails: "connect ECONNREFUSED",
        attempts: 0,
      }),
  );
});

// A label of 64 characters: no name server needs to be asked to know that it is none.
const NOWHERE = `https://${"n".repeat(64)}.invalid`;

describe.concurrent("F1: a name that does not resolve", () => {
  test.each(acting(ALL))(
    "$action of a $kind: an error without the token, nothing is done, and the next run does it",
    ({ kind, action }) =>
      scenario({
        kind,
        action,
        child: { env: { IRM_MOVED_FROM: NOWHERE } },
        act: async ({ testbed, subject }) => {
          const token = "the-token-of-nobody";
          testbed.tokens.push(token);
          // In a process: this one may have a proxy, which would look the name up elsewhere.
          const elsewhere = testbed.engine(STACK, {
            env: {
              IRM_BASE_URL: NOWHERE,
              IRM_AUTH_URL: NOWHERE,
              IRM_MOVED_FROM: testbed.server.baseUrl,
              IRM_TOKEN: token,
            },
          });
          const outcome = await elsewhere.start("up", subject.after).outcome;
          await elsewhere.end();
          expect([...outcome.errors, elsewhere.text()].join("\n")).not.toContain(token);
          return outcome;
        },
        fails: `no answer from ${NOWHERE}: getaddrinfo ENOTFOUND`,
        attempts: 0,
      }),
  );
});
