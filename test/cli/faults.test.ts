// `irm serve --faults FILE.yaml` in a separate process. test/server/faults/ tests the steps.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startServerProcess } from "../harness/api-process.ts";
import { createHttpClient } from "../support/http.ts";
import { runIrm, usageError } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();

test("the example of docs/server.md works, and no rule applies to the server's own start", async () => {
  const page = readFileSync(new URL("../../docs/server.md", import.meta.url), "utf8");
  const example = /faults\.yaml <<'EOF'\n(.*?)EOF\n/s.exec(page)?.[1] as string;
  const file = folder.write("faults.yaml", `${example}  - { operation: ExchangeGet, steps: [{ status: 500 }] }\n`);
  const server = await startServerProcess(["--faults", file]);
  const api = createHttpClient(server.baseUrl);
  try {
    const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const target = `/iam/v2beta1/groups/${server.organization}`;
    const create = () => api.send({ method: "POST", target, headers, body: '{"name":"once"}' });
    const first = await create();
    expect([first.status, first.headers["retry-after"]]).toEqual([503, "1"]);
    await expect(create()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await create()).status).toBe(200);
    const { json } = await api.send({ method: "GET", target: "/faults" });
    expect(json.attempts).toMatchObject([
      { operation: "CreateGroup", wire: "rest", rule: 1, step: 1, carriedOut: false },
      { operation: "CreateGroup", wire: "rest", rule: 1, step: 2, carriedOut: true },
      { operation: "CreateGroup", wire: "rest", carriedOut: true },
    ]);
    const { groups } = (await api.send({ method: "GET", target: "/iam/v2beta1/groups?name=once", headers })).json;
    expect(groups).toHaveLength(2);
  } finally {
    api.close();
    await server.stop("SIGKILL");
  }
});

test("a host that is not loopback is a usage error", async () => {
  const file = folder.write("none.yaml", "{}");
  expect(await runIrm("serve", "--host", "0.0.0.0", "--faults", file)).toEqual(
    usageError(
      "irm serve",
      "the scripted failures are changed by anyone who reaches the server, so --faults is refused on 0.0.0.0; leave out --host",
    ),
  );
});
