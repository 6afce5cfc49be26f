// Identities with static keys (docs/contract.md#static-keys): which keys, for how long, and their exchanges.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { IAM, serve, sharedKeys } from "../../harness/api-server.ts";
import { DAY_MS, START_MS } from "../../harness/clock.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal } from "../../support/refusal.ts";

const KEYS = () => JSON.stringify(sharedKeys().signer.jwks());
const EXACT = { issuer: "https://issuer.example", subject: "s" };
const later = (ms: number) => new Date(START_MS + ms).toISOString();
const api = await serve();

const create = (body: Body) =>
  api.call("POST", `${IAM}/identities/${api.organization}`, { body: { name: "i", ...body } });

describe("static keys", () => {
  const createWithKeys = (further: Body) => create({ staticKeys: { ...EXACT, issuerKeys: KEYS(), ...further } });
  const TIME = "must be in the future, at most 365 days after creation";

  test.each([
    ["the last moment", later(365 * DAY_MS)],
    ["the next millisecond", later(1)],
  ])("may end at %s", async (_, expirationTime) => {
    expect((await createWithKeys({ expirationTime })).json.staticKeys.expirationTime).toBe(expirationTime);
  });

  test.each([
    ["a millisecond beyond", later(365 * DAY_MS + 1)],
    ["now", later(0)],
    ["the past", later(-DAY_MS)],
  ])("must not end at %s", async (_, expirationTime) => {
    expectInvalid(await createWithKeys({ expirationTime }), { "staticKeys.expirationTime": TIME });
  });

  test("cannot be extended beyond 365 days after creation by a later change", async () => {
    const server = await serve();
    const staticKeys = { ...EXACT, issuerKeys: KEYS() };
    const { uid } = await createRecord(server, "identities", server.organization, { name: "i", staticKeys });
    server.clock.advance(30 * DAY_MS);
    server.owner.token = await server.token(server.identity, { subject: "owner" });
    const path = `${IAM}/identities/${uid}`;
    const longer = { body: { staticKeys: { expirationTime: later(366 * DAY_MS) } } };
    expectInvalid(await server.call("PATCH", path, longer), { "staticKeys.expirationTime": TIME });
    const shorter = { body: { staticKeys: { expirationTime: later(31 * DAY_MS) } } };
    expect((await server.ok("PATCH", path, shorter)).staticKeys.expirationTime).toBe(later(31 * DAY_MS));
    const cleared = { body: {}, query: { updateMask: "staticKeys.expirationTime" } };
    expect((await server.ok("PATCH", path, cleared)).staticKeys.expirationTime).toBe(later(365 * DAY_MS));
  });

  test("that have expired block no update: fields outside the mask are not validated", async () => {
    const server = await serve();
    const body = { name: "i", staticKeys: { ...EXACT, issuerKeys: KEYS(), expirationTime: later(1) } };
    const { uid } = await createRecord(server, "identities", server.organization, body);
    server.clock.advance(1);
    const path = `${IAM}/identities/${uid}`;
    const renamed = await server.ok("PATCH", path, { body: { name: "renamed" } });
    expect(renamed).toMatchObject({ name: "renamed", staticKeys: body.staticKeys });
    const restated = { body: { staticKeys: { expirationTime: later(1) } } };
    expectInvalid(await server.call("PATCH", path, restated), { "staticKeys.expirationTime": TIME });
  });

  test.each([
    ["no JSON", "keys", "not JSON"],
    ["no set", "[]", 'not an object with a list of "keys"'],
    ["an empty set", '{"keys":[]}', "it has no key"],
    ["a private key", JSON.stringify({ keys: [{ kty: "oct", k: "c2VjcmV0" }] }), "key 1: it has private parts"],
  ])("that are %s are stored unchanged with a warning, and verify no token", async (_, issuerKeys, reason) => {
    const server = await serve();
    const body = { name: "i", staticKeys: { ...EXACT, issuerKeys } };
    const identity = await createRecord(server, "identities", server.organization, body);
    expect(identity.staticKeys).toMatchObject({ ...EXACT, issuerKeys });
    const warnings = () =>
      server.log.map((line) => JSON.parse(line) as Body).filter(({ event }) => String(event).startsWith("staticKeys"));
    const warning = {
      level: "warn",
      event: "staticKeys.issuerKeys verify no token: exchanges are refused",
      identity: identity.uid,
      reason: `must be a JSON Web Key Set of public keys: ${reason}`,
    };
    expect(warnings()).toMatchObject([warning]);
    const now = Math.floor(START_MS / 1000);
    const claims = { iss: EXACT.issuer, sub: EXACT.subject, aud: server.authUrl, iat: now, exp: now + 60 };
    const answer = await server.exchange(await sharedKeys().signer.sign(claims), { identity: identity.uid });
    expectRefusal(answer, "PERMISSION_DENIED", "the token may not be exchanged for this identity");

    const replaced = { staticKeys: { ...EXACT, issuerKeys: `${issuerKeys} ` } };
    await server.ok("PATCH", `${IAM}/identities/${identity.uid}`, { body: replaced });
    expect(warnings()).toMatchObject([warning, warning]);
    expect(server.log.join("\n")).not.toContain("c2VjcmV0");
  });

  test("do not make the server ask their issuer for keys, whatever token names it", async () => {
    const server = await serve();
    let asked = 0;
    const issuer = createServer((_, response) => {
      asked += 1;
      response.writeHead(404).end();
    });
    await once(issuer.listen(0, "127.0.0.1"), "listening");
    const iss = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    const staticKeys = { issuer: iss, subject: "s", issuerKeys: KEYS() };
    await createRecord(server, "identities", server.organization, { name: "i", staticKeys });
    const iat = Math.floor(START_MS / 1000);
    const token = await sharedKeys().signer.sign({ iss, sub: "s", aud: server.authUrl, iat, exp: iat + 60 });
    const unknown = `${server.organization}/${"0".repeat(16)}`;
    const answer = await server.exchange(token, { identity: unknown });
    expectRefusal(answer, "PERMISSION_DENIED", "the token may not be exchanged for this identity");
    expect(asked).toBe(0);
    issuer.close();
  });
});
