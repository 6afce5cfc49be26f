// `irm serve --rate-limit N` (docs/contract.md#d25), in a process of its own; test/server/rate-limit.test.ts has the rule.
import { afterEach, expect, test } from "vitest";
import { type ServerProcess, startServerProcess } from "../harness/api-process.ts";
import { createHttpClient } from "../support/http.ts";

let server: ServerProcess;
afterEach(() => server.stop("SIGKILL"));

test.each<[string, string[], number[]]>([
  ["with the flag, what one caller asks beyond it is refused", ["--rate-limit", "1"], [200, 429]],
  ["without it nothing is", [], [200]],
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
