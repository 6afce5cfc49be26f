// A server with `dev` in the tests of a client: tokens, and a reset between two tests.
import { beforeEach, describe, expect, expectTypeOf, test } from "vitest";
import { createServer, type DevServer, type Faults, type RunningServer } from "../../server/index.ts";
import { atEnd, IAM, openHttp, sharedKeys } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";
import { payloadOf } from "../harness/sts.ts";
import type { Body } from "../support/http.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();

let server: DevServer & { faults: Faults };
let client: ReturnType<typeof openHttp>;
const start = () =>
  createServer({
    dev: true,
    clock: manualClock(),
    keys: sharedKeys(),
    refreshTokens: true,
    faults: { rules: [{ operation: "DeleteGroup", steps: [{ status: 503 }] }] },
  });
beforeEach(async () => {
  server = await start();
  atEnd(server.close);
  client = openHttp(server.baseUrl);
});

const call = (method: string, target: string, token?: string, body?: object) =>
  client.send({
    method,
    target,
    headers: { ...(token && { authorization: `Bearer ${token}` }), "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
const groups = async (token: string) =>
  (await call("GET", `${IAM}/groups`, token)).json.groups.map(({ name }: Body) => name);

test("the type follows the options: with dev no field of it is undefined", () => {
  expectTypeOf(() => createServer({ dev: true })).returns.resolves.toExtend<{ issuer: string; organization: string }>();
  expectTypeOf(() => createServer({ dev: true, faults: {} })).returns.resolves.toExtend<
    DevServer & { faults: Faults }
  >();
  expectTypeOf(() => createServer()).returns.resolves.toEqualTypeOf<RunningServer>();
  expectTypeOf((dev: boolean) => createServer({ dev })).returns.resolves.not.toExtend<DevServer>();
  // @ts-expect-error an option that does not exist
  expect(() => createServer({ dev: true, portt: 1 })).toBeTypeOf("function");
});

test("server.token is an API token of the owner, for an hour", async () => {
  const token = await server.token();
  expect(payloadOf(token)).toMatchObject({ iss: server.authUrl, aud: server.baseUrl, sub: server.identity });
  expect(await groups(token)).toEqual(["dev"]);
});

test("server.token assumes the identity of a subject, or the named one, within limits", async () => {
  const owner = await server.token();
  const claimMatch = { issuer: server.issuer, subject: "tester" };
  const identity = (
    await call("POST", `${IAM}/identities/${server.organization}`, owner, { name: "tester", claimMatch })
  ).json;
  const plain = payloadOf(await server.token({ subject: "tester", claims: { email: "t@example.com" } }));
  expect(plain).toMatchObject({ sub: identity.uid, email: "t@example.com", act: { sub: "tester" } });
  expect(payloadOf(await server.token({ subject: "tester", identity: server.anyone })).sub).toBe(server.anyone);
  const narrow = await server.token({ capabilities: ["groups.list"], scopes: [server.organization] });
  expect((await call("POST", `${IAM}/groups/${server.organization}`, narrow, { name: "no" })).status).toBe(403);
  expect(await groups(narrow)).toEqual(["dev"]);
});

test("server.identityToken is a token that a client can exchange", async () => {
  const workload = await server.identityToken({ subject: "owner", claims: { ref: "main" }, lifetimeSeconds: 60 });
  expect(payloadOf(workload)).toMatchObject({ iss: server.issuer, sub: "owner", aud: server.authUrl, ref: "main" });
  const target = `/sts/exchange?aud=${server.baseUrl}&identity=${server.identity}`;
  expect((await call("GET", target, workload)).status).toBe(200);
});

describe.each(["server.reset()", "POST /dev/reset"])("%s", (how) => {
  const reset = async () => {
    if (how === "server.reset()") return server.reset();
    const { status, json } = await call("POST", "/dev/reset");
    expect({ status, json }).toEqual({ status: 200, json: {} });
  };

  test("restores the records of the start with their uids, and earlier tokens stay valid", async () => {
    const token = await server.token();
    const dev = (await call("GET", `${IAM}/groups/${server.organization}`, token)).json;
    const made = (await call("POST", `${IAM}/groups/${server.organization}`, token, { name: "made" })).json;
    await call("PATCH", `${IAM}/groups/${server.organization}`, token, { description: "changed" });
    const claimMatch = { issuer: server.issuer, subject: "s" };
    await call("POST", `${IAM}/identities/${made.uid}`, token, { name: "s", claimMatch });
    expect((await call("DELETE", `${IAM}/identities/${server.identity}`, token)).status).toBe(200);
    expect((await call("GET", `${IAM}/groups`, token)).status).toBe(401);
    for (let i = 0; i < 2; i += 1) {
      await reset();
      expect((await call("GET", `${IAM}/groups/${server.organization}`, token)).json).toEqual(dev);
      expect(await groups(token)).toEqual(["dev"]);
      expect((await call("GET", `${IAM}/groups/${made.uid}`, token)).status).toBe(404);
      expect(await groups(await server.token())).toEqual(["dev"]);
      expect((await call("POST", `${IAM}/groups/${server.organization}`, token, { name: "made" })).status).toBe(200);
    }
  });

  test("restarts the scripted failures, and empties their report", async () => {
    const token = await server.token();
    const remove = async () => {
      const { uid } = (await call("POST", `${IAM}/groups/${server.organization}`, token, { name: "g" })).json;
      return (await call("DELETE", `${IAM}/groups/${uid}`, token)).status;
    };
    expect([await remove(), await remove()]).toEqual([503, 200]);
    server.faults.set({});
    await reset();
    expect(server.faults.attempts()).toEqual([]);
    expect([await remove(), await remove()]).toEqual([503, 200]);
  });
});

test("POST /dev/reset does not change a file", async () => {
  const kept = await createServer({ dev: true, store: folder.path("kept.db"), keys: sharedKeys() });
  atEnd(kept.close);
  const text = "the records are in a file, which a reset would change; start the server without --db";
  await expect(kept.reset()).rejects.toMatchObject({
    code: "FAILED_PRECONDITION",
    message: `Precondition failed: ${text}`,
  });
  const other = openHttp(kept.baseUrl);
  expect((await other.send({ method: "POST", target: "/dev/reset" })).json.message).toBe(
    `Precondition failed: ${text}`,
  );
});

test("a reset clears the counts of the rate limit", async () => {
  const limited = await createServer({ dev: true, rateLimit: 1, clock: manualClock(), keys: sharedKeys() });
  atEnd(limited.close);
  const other = openHttp(limited.baseUrl);
  const headers = { authorization: `Bearer ${await limited.token()}` };
  const list = async () => (await other.send({ method: "GET", target: `${IAM}/groups`, headers })).status;
  expect([await list(), await list()]).toEqual([200, 429]);
  await limited.reset();
  expect(await list()).toBe(200);
});
