// The connection is refused, or the host name does not resolve (docs/internals/faults.md#f1).
import { expect, test } from "vitest";
import { STACK, scenario } from "./scenario.ts";
import { ALL, acting, throughPlugin } from "./table.ts";

const SILENT = "http://127.0.0.1:9";
// A label of 64 characters is invalid, which no name server needs to confirm.
const NOWHERE = `https://${"n".repeat(64)}.invalid`;

const ROWS = [
  { why: "the connection is refused", url: SILENT, fails: "connect ECONNREFUSED" },
  { why: "the name does not resolve", url: NOWHERE, fails: `no response from ${NOWHERE}: getaddrinfo ENOTFOUND` },
];
// The plugin masks what it prints.
const cases = [...acting(ALL), ...throughPlugin(["create"])].flatMap((tried) =>
  ROWS.map((row) => ({ ...row, ...tried })),
);

test.concurrent.each(cases)(
  "F1: $why: $action of a $kind ($adapter) fails without an effect or the token in the error, and the next run does it",
  ({ url, ...tried }) =>
    scenario({
      ...tried,
      // Another address than that of the last run: both moves are confirmed.
      child: { env: { IRM_MOVED_FROM: url } },
      act: async ({ testbed, subject }) => {
        const token = "a-token-without-an-identity";
        testbed.tokens.push(token);
        const env = { IRM_BASE_URL: url, IRM_AUTH_URL: url, IRM_MOVED_FROM: testbed.server.baseUrl, IRM_TOKEN: token };
        // In a separate process: this one may have a proxy, which would resolve the name itself.
        const otherEngine = testbed.engine(STACK, { env });
        const outcome = await otherEngine.start("up", subject.after).outcome;
        await otherEngine.end();
        expect([...outcome.errors, otherEngine.text()].join("\n")).not.toContain(token);
        return outcome;
      },
      attempts: 0,
    }),
);
