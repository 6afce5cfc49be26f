// `irm serve --copy-of` as a command: what it asks of the original, prints, writes and refuses.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { COPY_HEAD } from "../../access/copy/copy.ts";
import { mintDevToken } from "../../cli/command/serve-token.ts";
import { parseSeed } from "../../server/index.ts";
import { type ServerProcess, startServerProcess } from "../harness/api-process.ts";
import { type CallOptions, queryText, type TestServer } from "../harness/api-server.ts";
import { createByHand } from "../harness/by-hand.ts";
import { listEverything, startCopy } from "../harness/copy.ts";
import { startCommand } from "../support/command.ts";
import { exactFailure, failure, runIrm, usageError } from "../support/irm.ts";
import { type HoldingProxy, startProxy } from "../support/proxy.ts";
import { testFolder } from "../support/test-folder.ts";
import { unusedPort } from "../support/unused-port.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = testFolder();
let original: ServerProcess;
let proxy: HoldingProxy;
/** Calls a server with its owner's token. */
const callerOf = ({ baseUrl, token }: { baseUrl: string; token: string }) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async (method: string, path: string, { body, query = {} }: CallOptions = {}) => {
    const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await fetch(baseUrl + path + queryText(query), sent);
    const text = await answer.text();
    return { status: answer.status, text, json: JSON.parse(text) };
  };
  const ok = async (...request: Parameters<typeof call>) => (await call(...request)).json;
  return { call, ok, owner: { uid: "", token } } as unknown as TestServer;
};

beforeAll(async () => {
  const port = await unusedPort();
  proxy = await startProxy(() => `http://127.0.0.1:${port}`);
  original = await startServerProcess(["--port", `${port}`, "--public-url", proxy.url]);
  await createByHand(callerOf(original), original.organization);
});
afterAll(async () => {
  await original.stop();
  await proxy.close();
});
beforeEach(() => {
  for (const name of ["IRM_BASE_URL", "IRM_IDENTITY", "IRM_IDENTITY_TOKEN", "IRM_TOKEN"]) vi.stubEnv(name, "");
  return () => vi.unstubAllEnvs();
});

describe("irm serve --dev --copy-of --copy-to", () => {
  test("sends GETs alone, starts with the copy, says what is not in it, and writes it as a seed", async () => {
    vi.stubEnv("IRM_IDENTITY", original.identity);
    vi.stubEnv("IRM_IDENTITY_TOKEN", await mintDevToken(original.issuer, { subject: "owner" }));
    const everything = await listEverything(callerOf(original));
    const file = folder.path("copy.yaml");
    // It replaces another copy.
    writeFileSync(file, `${COPY_HEAD}\nold: true\n`);
    proxy.seen.length = 0;
    const refused = proxy.only(({ method }) => method === "GET");
    const server = startCommand("serve", "--dev", "--json", "--copy-of", proxy.url, "--copy-to", file);
    const ready = JSON.parse(await server.firstLine);
    // The exchange is a GET too.
    expect(proxy.seen.some(({ path }) => path.startsWith("/sts/exchange"))).toBe(true);
    expect(proxy.seen.length).toBeLessThanOrEqual(20);
    expect(refused).toEqual([]);
    proxy.only(() => true);

    expect(ready.organization).toBe(original.organization);
    // Its owner has just exchanged a token there, before the copy was read.
    const lists = await listEverything(callerOf(ready));
    const seen = (all: typeof lists) => ({
      ...all,
      identities: all.identities?.map(({ lastSeenTime: _, ...one }) => one),
    });
    expect(seen(lists)).toEqual(seen(everything));
    const lines = server.stderr().split("\n");
    const messages = lines.filter((line) => line.includes('"event":"copy"')).map((line) => JSON.parse(line).message);
    expect(messages).toEqual([
      `copied ${Object.values(lists).flat().length} records of ${proxy.url}`,
      "not copied: the client secret, if there is one, of 2 identity providers",
      "not copied: the code of 2 group invites",
      "not copied: the readme of 2 repos",
      "not copied: advisories",
      `wrote ${file}`,
    ]);
    server.process.kill("SIGTERM");
    expect(await server.finished).toMatchObject({ code: 0 });

    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await startCopy(parseSeed(readFileSync(file, "utf8"), file));
    expect(await listEverything(again).finally(again.close)).toEqual(lists);
  });

  test("^C while it reads leaves no file, and nothing else", async () => {
    vi.stubEnv("IRM_TOKEN", original.token);
    const empty = folder.path("empty");
    mkdirSync(empty);
    const held = proxy.hold("GET", /\/roleBindings\?/, "before");
    const server = startCommand("serve", "--dev", "--copy-of", proxy.url, "--copy-to", `${empty}/copy.yaml`);
    await held.reached;
    server.process.kill("SIGINT");
    expect(await server.finished).toMatchObject({ code: null, stdout: "" });
    held.release();
    expect(readdirSync(empty)).toEqual([]);
  });
});

describe("irm serve --copy-of refuses", () => {
  const taken = folder.write("taken.yaml", "organization: { name: mine }\n");
  const database = folder.write("taken.db", "");

  test.each<[what: string, flags: string[], sentence: string]>([
    [
      "a database that exists",
      ["--copy-of", "https://irm.example", "--db", database],
      `--copy-of needs a new database, and ${database} exists: leave out --copy-of to serve what it holds, or name another file`,
    ],
    [
      "a file of something else",
      ["--copy-of", "https://irm.example", "--copy-to", taken],
      `--copy-to: ${taken} already exists and is not a copy; give another name`,
    ],
  ])("%s", async (_, flags, sentence) => {
    expect(await runIrm("serve", ...flags)).toEqual(usageError("irm serve", sentence));
    expect(readFileSync(taken, "utf8")).toBe("organization: { name: mine }\n");
  });

  test("to send the token of another service", async () => {
    vi.stubEnv("IRM_BASE_URL", "https://elsewhere.example");
    vi.stubEnv("IRM_TOKEN", "secret-of-elsewhere");
    proxy.seen.length = 0;
    expect(await runIrm("serve", "--copy-of", proxy.url)).toEqual(
      exactFailure(
        1,
        "irm serve: pulumi-irm is not configured:\n  - --copy-of: no credentials; IRM_TOKEN is for the service of IRM_BASE_URL, so set IRM_BASE_URL to the same address, with a token for it\nSee docs/recovery.md#sign-in\n",
      ),
    );
    expect(proxy.seen).toEqual([]);
  });

  test("a service that refuses the token, with its reason, and starts nothing", async () => {
    vi.stubEnv("IRM_TOKEN", "refused-by-the-service");
    const file = folder.path("refused.yaml");
    const refused = await runIrm("serve", "--copy-of", proxy.url, "--copy-to", file);
    expect(refused).toEqual(failure(1, /^irm serve: .*UNAUTHENTICATED.*a valid bearer token is required/));
    expect(refused.stderr).not.toContain("refused-by");
    expect(existsSync(file)).toBe(false);
  });
});
