// The connection is refused, or the host name does not resolve (docs/faults.md#f1).
import { join } from "node:path";
import { expect, test } from "vitest";
import { STACK, scenario } from "./scenario.ts";
import { ALL, acting, throughPlugin } from "./table.ts";

// Another address than that of the last run: both moves are confirmed.
const SILENT = "http://127.0.0.1:9";

test.concurrent.each(acting(ALL))(
  "F1: the connection is refused: $action of a $kind ($adapter) fails without an effect, and the next run does it",
  (tried) =>
    scenario({
      ...tried,
      child: { env: { IRM_MOVED_FROM: SILENT } },
      act: async ({ testbed, subject }) => {
        const otherEngine = testbed.engine(STACK, {
          env: {
            IRM_BASE_URL: SILENT,
            IRM_MOVED_FROM: testbed.server.baseUrl,
            IRM_TOKEN: "invalid-token",
            IRM_JOURNAL: join(testbed.folder, `${STACK}.journal`),
          },
        });
        return otherEngine.run("up", subject.after);
      },
      fails: "connect ECONNREFUSED",
      attempts: 0,
    }),
);

// A label of 64 characters is invalid, which no name server needs to confirm.
const NOWHERE = `https://${"n".repeat(64)}.invalid`;

// The plugin masks what it prints.
test.concurrent.each([...acting(ALL), ...throughPlugin(["create"])])(
  "F1: the name does not resolve: $action of a $kind ($adapter) fails without an effect or the token in the error, and the next run does it",
  (tried) =>
    scenario({
      ...tried,
      child: { env: { IRM_MOVED_FROM: NOWHERE } },
      act: async ({ testbed, subject }) => {
        const token = "a-token-without-an-identity";
        testbed.tokens.push(token);
        // In a separate process: this one may have a proxy, which would resolve the name itself.
        const otherEngine = testbed.engine(STACK, {
          env: {
            IRM_BASE_URL: NOWHERE,
            IRM_AUTH_URL: NOWHERE,
            IRM_MOVED_FROM: testbed.server.baseUrl,
            IRM_TOKEN: token,
          },
        });
        const outcome = await otherEngine.start("up", subject.after).outcome;
        await otherEngine.end();
        expect([...outcome.errors, otherEngine.text()].join("\n")).not.toContain(token);
        return outcome;
      },
      fails: `no response from ${NOWHERE}: getaddrinfo ENOTFOUND`,
      attempts: 0,
    }),
);
