// `irm serve --rate-limit N` (docs/contract.md#d25) in a separate process. test/server/base/rate-limit.test.ts tests the rule.
import { afterEach, expect, test } from "vitest";
import { type ServerProcess, startServerProcess } from "../harness/api-process.ts";
import { createHttpClient } from "../support/http.ts";

let server: ServerProcess;
afterEach(() => server.stop("SIGKILL"));

test.each<[string, string[], number[]]>([
  ["refuses a caller's requests beyond the limit with the flag", ["--rate-limit", "1"], [200, 429]],
  ["refuses none without the flag", [], [200]],
])("%s", async (_, flags, expected) => {
  server = await startServerProcess(flags);
  const api = createHttpClient(server.baseUrl);
  const list = () =>
    api.send({ method: "GET", target: "/iam/v2beta1/groups", headers: { authorization: `Bearer ${server.token}` } });
  // At once, and so many that they cannot take a second each.
  const answers = await Promise.all(Array.from({ length: 50 }, list));
  api.close();
  expect([...new Set(answers.map(({ status }) => status))].toSorted()).toEqual(expected);
});
