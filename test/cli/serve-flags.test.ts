// `irm serve --rate-limit N` (docs/contract.md#d25) and `--unique-role-bindings` (docs/contract.md#d19) in a separate process. The rules are in
// test/server/base/rate-limit.test.ts and test/server/services/role-binding.test.ts.
import { afterEach, expect, test } from "vitest";
import { type ServerProcess, startServerProcess } from "../harness/api-process.ts";
import { createHttpClient } from "../support/http.ts";

let server: ServerProcess;
afterEach(() => server.stop("SIGKILL"));

/** The statuses of as many requests, sent at once. */
const statusesOf = async (count: number, method: string, target: string, body?: object): Promise<number[]> => {
  const api = createHttpClient(server.baseUrl);
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const request = { method, target, headers, ...(body && { body: JSON.stringify(body) }) };
  const answers = await Promise.all(Array.from({ length: count }, () => api.send(request)));
  api.close();
  return answers.map(({ status }) => status).toSorted();
};

const LISTS = ["GET", "/iam/v2beta1/groups"] as const;

test.each<[flags: string[], lists?: number[], bindings?: number[]]>([
  [
    ["--rate-limit", "1"],
    [200, 429],
  ],
  [["--unique-role-bindings"], undefined, [200, 409]],
  [[], [200], [200, 200]],
])(
  "with %j, many lists at once and two creates of one binding have the statuses of the row",
  async (flags, lists, bindings) => {
    server = await startServerProcess(flags);
    // So many that they cannot take a second each.
    if (lists) expect([...new Set(await statusesOf(50, ...LISTS))]).toEqual(lists);
    const binding = { identityUid: server.identity, roleUid: "63921b2c44617e3f2603851537be0123af4a57d7" };
    const target = `/iam/v2beta1/roleBindings/${server.organization}`;
    if (bindings) expect(await statusesOf(2, "POST", target, binding)).toEqual(bindings);
  },
);
