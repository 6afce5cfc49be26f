// `irm serve --faults FILE.yaml` in a separate process. test/server/faults/ tests the steps.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { startServerProcess } from "../harness/api-process.ts";
import { runCommand } from "../support/command.ts";
import { createHttpClient } from "../support/http.ts";
import { usageError } from "../support/irm.ts";
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

describe("the command reports in one sentence, and starts nothing for", () => {
  test("a missing file", async () => {
    const file = folder.path("missing.yaml");
    expect(await runCommand("serve", "--faults", file)).toEqual({
      code: 1,
      stdout: "",
      stderr: `irm serve: cannot read the faults file ${file}: ENOENT: no such file or directory, open '${file}'\n`,
    });
  });

  test("a file with several problems", async () => {
    const file = folder.write("bad.yaml", "rules:\n  - operation: MakeGroup\n    steps: []\n");
    expect(await runCommand("serve", "--faults", file)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        `irm serve: ${file}:2:16: rules.0.operation: must be the name of an operation, such as CreateGroup, or "*"\n` +
        `${file}:3:12: rules.0.steps: must have a step\n`,
    });
  });

  test("a host that is not loopback, as a usage error", async () => {
    const file = folder.write("none.yaml", "{}");
    expect(await runCommand("serve", "--host", "0.0.0.0", "--faults", file)).toEqual(
      usageError(
        "irm serve",
        "the scripted failures are changed by anyone who reaches the server, so --faults is refused on 0.0.0.0; leave out --host",
      ),
    );
  });
});
