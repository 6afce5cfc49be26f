// The log (docs/faults.md#row-34): it has everything that a run does, and no token, key or signature.
import { describe, expect, test } from "vitest";
import { createLog } from "../../../server/index.ts";
import { IAM, ownKeys, REGISTRY, serve, sharedKeys } from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";
import { createRecord } from "../../harness/records.ts";

test("the log of a run at level debug has no token, key or page token, nor half of one", async () => {
  const api = await serve();
  const workload = await api.identityToken("owner", { claims: { secret: "s3cr3t-claim" } });
  const viewer = await api.actor("viewer", { role: "viewer" });
  const secrets = [api.owner.token, viewer.token, workload];

  // Served, refused, malformed, and in every place where a caller may put a token by mistake.
  const { nextPageToken } = await api.ok("GET", `${IAM}/roles`, { query: { page_size: 1 } });
  secrets.push(nextPageToken);
  await api.ok("GET", `${IAM}/roles`, { query: { page_size: 1, page_token: nextPageToken } });
  await api.call("GET", `${IAM}/roles`, { query: { page_token: `${nextPageToken}x` } });
  for (const token of secrets) {
    const forms = [token, `${token}x`, token.toUpperCase(), `${token} ${token}`];
    for (const form of forms) await api.call("GET", `${IAM}/groups`, { token: form });
    await api.call("GET", `${IAM}/groups`, { token: null, headers: { authorization: `Basic ${token}` } });
    await api.call("GET", `${IAM}/groups`, { query: { access_token: token, token } });
    await api.call("GET", `${REGISTRY}/repos`, { token: null, query: { access_token: token } });
    await api.call("PATCH", `${IAM}/groups/${api.organization}`, { body: { description: token } });
    await api.call("PATCH", `${IAM}/groups/${api.organization}`, { body: `{"token": ${token}}` });
    await api.exchange(token, { aud: api.baseUrl, identity: viewer.uid });
    await api.exchange(workload, { aud: token, identity: token, cap: token, scopes: token });
    await api.call("POST", "/sts/exchange", {
      token: workload,
      body: new URLSearchParams({ identity: token }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await api.call("POST", "/dev-issuer/token", { body: { subject: "s", claims: { token } } });
    await api.call("POST", "/dev-issuer/token", { body: { subject: token } });
  }
  const staticKeys = { issuer: "https://keys.example", subject: "s", issuerKeys: ownKeys() };
  await createRecord(api, "identities", api.organization, { name: "keys", staticKeys });

  const log = api.log.join("");
  expect(api.log.length).toBeGreaterThan(60);
  for (const token of secrets) {
    // A signature proves a token, a payload names its holder; 24 characters of either are no coincidence.
    for (const part of token.split(".")) {
      if (part.length < 24) continue;
      const middle = Math.floor(part.length / 2);
      const pieces = [part, part.slice(0, 24), part.slice(middle - 12, middle + 12), part.slice(-24)];
      for (const piece of pieces) expect(log.toLowerCase().includes(piece.toLowerCase()), piece).toBe(false);
    }
  }
  expect(log).not.toContain("s3cr3t-claim");
  expect(log.toLowerCase()).not.toContain("bearer ey");
  // The key's name is public and in the log; the key is not.
  const { n } = sharedKeys().signer.jwks().keys[0] as { n: string };
  expect(log).not.toContain(n);
});

describe("the log", () => {
  test("is one line of JSON for each request, with its id, method, path, operation, status and time", async () => {
    const api = await serve();
    api.log.length = 0;
    const query = { page_size: 7, order_by: "name", "uidp.children_of": api.organization, token: "x" };
    await api.call("GET", `${IAM}/groups`, { query, headers: { "x-request-id": "run-1" } });
    await api.call("PATCH", `${IAM}/groups/${api.organization}`, {
      body: { description: "d", name: "dev" },
      query: { updateMask: "description" },
      headers: { "x-request-id": "run-2" },
    });
    await api.call("GET", "/nowhere", { headers: { "x-request-id": "run-3" } });
    const time = new Date(START_MS).toISOString();
    const common = { time, level: "info", event: "request", ms: expect.any(Number) };
    const [list, update] = [`${IAM}/groups`, `${IAM}/groups/${api.organization}`];
    const { token: _, ...shown } = { ...query, page_size: "7" };
    const masked = { query: { updateMask: "description" }, fields: "name,description", status: 200 };
    expect(api.log.map((line) => JSON.parse(line))).toEqual(
      [
        { requestId: "run-1", method: "GET", path: list, operation: "ListGroups", query: shown, status: 200 },
        { requestId: "run-2", method: "PATCH", path: update, operation: "UpdateGroup", ...masked },
        {
          requestId: "run-3",
          method: "GET",
          path: "/nowhere",
          status: 404,
          message: "Not found: there is no /nowhere",
        },
      ].map((line) => ({ ...common, ...line })),
    );
    for (const line of api.log) expect(line.endsWith("\n") && line.indexOf("\n") === line.length - 1).toBe(true);
  });

  test("has the cause of an UNAUTHENTICATED, which the caller does not see", async () => {
    const api = await serve();
    const causes = async (token: string | null) => {
      api.log.length = 0;
      await api.call("GET", `${IAM}/groups`, { token });
      return api.log.map((line) => JSON.parse(line)).find(({ event }) => event === "unauthenticated")?.reason;
    };
    expect(await causes(null)).toBe("no Authorization header");
    expect(await causes("a b")).toBe("the Authorization header is not one bearer token");
    expect(await causes(await api.identityToken("owner"))).toBe("iss is not ours");
    const { uid, token } = await api.actor("gone");
    await api.ok("DELETE", `${IAM}/identities/${uid}`);
    expect(await causes(token)).toBe("the identity of the token was deleted");
    api.clock.advance(60 * 60 * 1000);
    expect(await causes(api.owner.token)).toBe("exp has passed");
  });

  test("is text for people without --json, in which no value looks like an event", () => {
    const lines: string[] = [];
    const log = createLog({ level: "info", json: false, clock: () => START_MS, write: (line) => lines.push(line) });
    log("info", "request", { path: "/x", status: 200, message: "two\n00:00:00 error forged\r\u001b[2J\u009b" });
    log("debug", "hidden");
    expect(lines).toEqual([
      "12:54:21 info  request path=/x status=200 message=two\n    00:00:00 error forged\\u000d\\u001b[2J\\u009b\n",
    ]);
  });
});
