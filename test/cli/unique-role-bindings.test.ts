// `irm serve --unique-role-bindings` (docs/contract.md#d19) in a process; the rule is in
// test/server/services/role-binding.test.ts.
import { afterEach, expect, test } from "vitest";
import { type ServerProcess, startServerProcess } from "../harness/api-process.ts";
import { createHttpClient } from "../support/http.ts";

let server: ServerProcess;
afterEach(() => server.stop("SIGKILL"));

test.each<[string, string[], number[]]>([
  ["refuses a second binding with the flag", ["--unique-role-bindings"], [200, 409]],
  ["creates a second binding without the flag", [], [200, 200]],
])("%s", async (_, flags, expected) => {
  server = await startServerProcess(flags);
  const api = createHttpClient(server.baseUrl);
  const statuses: number[] = [];
  for (const _ of expected) {
    const { status } = await api.send({
      method: "POST",
      target: `/iam/v2beta1/roleBindings/${server.organization}`,
      headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
      body: JSON.stringify({ identityUid: server.identity, roleUid: "63921b2c44617e3f2603851537be0123af4a57d7" }),
    });
    statuses.push(status);
  }
  api.close();
  expect(statuses).toEqual(expected);
});
