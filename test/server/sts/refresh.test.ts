// Refresh tokens over REST against a server with a separate store (docs/internals/contract.md#refresh-tokens,
// docs/internals/faults.md#row-31; RFC 6749 section 6, RFC 9700 section 4.14). One gets no more than the first exchange, does not
// replace other tokens, and is in no log.
import { readdirSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { capabilitiesFromBits, TokenPair } from "../../../schema/index.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore, type Store } from "../../../server/store/store.ts";
import { createSigner } from "../../../server/sts/index.ts";
import { IAM, serve, sharedKeys, type TestServer } from "../../harness/api-server.ts";
import { DAY_MS, HOUR_MS, manualClock, START_MS } from "../../harness/clock.ts";
import { createRecord, createUid, recordOf } from "../../harness/records.ts";
import { payloadOf } from "../../harness/sts.ts";
import { temporaryFolder } from "../../support/command.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, expectUnauthenticated } from "../../support/refusal.ts";

let api: TestServer;
let store: Store;
const start = async (options: Parameters<typeof serve>[0] = {}) => {
  store = createStore(openDatabase(":memory:"));
  api = await serve({ store, refreshTokens: true, ...options });
};
beforeEach(() => start());

/** What an exchange for the owner answers. */
const exchangeForOwner = async (api: TestServer, query: Body = {}): Promise<Body> =>
  recordOf(api.exchange(await api.identityToken("owner"), { identity: api.identity, ...query }));

const use = (api: TestServer, token: string | null, query: Body = {}): Promise<Answer> =>
  api.call("POST", "/sts/exchange_refresh_token", { token, query: { aud: api.baseUrl, ...query } });

const refreshWith = (api: TestServer, token: string, query: Body = {}): Promise<Body> =>
  recordOf(use(api, token, query));

const expectRefused = (answer: Answer) =>
  expectRefusal(answer, "PERMISSION_DENIED", "the token may not be exchanged for this identity");

/** Reasons of the audit lines of refreshes. */
const reasons = (api: TestServer) =>
  api.log
    .map((line) => JSON.parse(line) as Body)
    .filter(({ event }) => event === "sts.refresh")
    .map(({ reason }) => reason);

const families = (store: Store) => store.database.prepare("SELECT * FROM refresh_families").all();

const decodeRefreshToken = (refreshToken: string): Body => JSON.parse(Buffer.from(refreshToken, "base64").toString());

/** What no file and no log may have of a token: a refresh token and its parts, the claims and the signature of an API token. */
const secretsOf = (token: string): string[] =>
  token.includes(".") ? token.split(".").slice(1) : [token, ...decodeRefreshToken(token).jti.split(".")];

describe("an exchange", () => {
  it("returns no refresh token by default: the published request cannot ask for one", async () => {
    await start({ refreshTokens: undefined });
    expect(await exchangeForOwner(api)).toEqual({ token: expect.any(String), expiry: "2026-01-28T13:54:21.000Z" });
    expect(families(store)).toEqual([]);
  });

  it("returns one in exactly the published shape, whose expiry the vendor's clients can read: base64 of JSON with exp", async () => {
    const answer = await exchangeForOwner(api);
    const [token, refreshToken] = [expect.any(String), expect.any(String)];
    expect(answer).toEqual({ token, refreshToken, expiry: "2026-01-28T13:54:21.000Z" });
    expect(decodeRefreshToken(answer.refreshToken)).toEqual({
      iss: api.authUrl,
      sub: api.identity,
      aud: api.baseUrl,
      iat: Math.floor(START_MS / 1000),
      exp: Math.floor((START_MS + DAY_MS) / 1000),
      jti: expect.stringMatching(/^[\w-]{22}\.[\w-]{43}$/),
    });
  });

  it("returns none for the identity that anyone may assume", async () => {
    const answer = await api.exchange(await api.identityToken("me"), { identity: api.anyone });
    expect(answer.json).toEqual({ token: expect.any(String), expiry: expect.any(String) });
    expect(families(store)).toHaveLength(1);
  });

  it("keeps a hundred families of an identity, and drops the oldest", async () => {
    api.clock.advance(1);
    const first = await exchangeForOwner(api);
    const identityToken = await api.identityToken("owner");
    for (let i = 0; i < 100; i += 1) {
      api.clock.advance(1);
      await api.exchange(identityToken, { identity: api.identity });
    }
    expect(families(store)).toHaveLength(100);
    expectRefused(await use(api, first.refreshToken));
    expect(reasons(api)).toEqual(["refresh_unknown"]);
  });

  it("deletes expired families", async () => {
    await exchangeForOwner(api);
    api.clock.advance(DAY_MS);
    await exchangeForOwner(api);
    expect(families(store)).toHaveLength(1);
  });
});

describe("a refresh token", () => {
  it("is exchanged for an API token and the next refresh token, in exactly the published shape", async () => {
    const first = await exchangeForOwner(api);
    api.clock.advance(HOUR_MS);
    const pair = await refreshWith(api, first.refreshToken);
    expect(pair).toEqual({
      token: { token: expect.any(String), expiry: "2026-01-28T14:54:21.000Z" },
      refreshToken: { token: expect.any(String), expiry: "2026-01-29T12:54:21.189Z" },
    });
    expect(TokenPair.parse(pair)).toEqual(pair);
    expect((await api.call("GET", `${IAM}/groups`, { token: first.token })).status).toBe(401);
    expect((await api.call("GET", `${IAM}/groups`, { token: pair.token.token })).status).toBe(200);
    expect(await refreshWith(api, pair.refreshToken.token)).toHaveProperty("token.token");
  });

  it("passes the claims of the first exchange to each token, with the current bindings", async () => {
    const actor = await api.actor("ci", { role: "viewer" });
    const { refreshToken } = (
      await api.exchange(await api.identityToken("ci", { claims: { email: "ci@example.com", email_verified: true } }), {
        identity: actor.uid,
      })
    ).json;
    const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, { query: { identity: actor.uid } });
    await api.ok("DELETE", `${IAM}/roleBindings/${roleBindings[0].uid}`);
    const { token } = await refreshWith(api, refreshToken);
    expect(payloadOf(token.token)).toMatchObject({
      sub: actor.uid,
      act: { iss: api.issuer, sub: "ci", aud: api.authUrl },
      email: "ci@example.com",
      email_verified: true,
      cap: {},
    });
  });

  it("moves lastSeenTime", async () => {
    const { refreshToken } = await exchangeForOwner(api);
    api.clock.advance(1000);
    await refreshWith(api, refreshToken);
    expect((await api.ok("GET", `${IAM}/identities/${api.identity}`)).lastSeenTime).toBe("2026-01-28T12:54:22.189Z");
  });
});

it("row 31: a used refresh token is recognised after a restart on the same file: its family ends with the newest token, but no API token and no other family, and stays ended after another", async () => {
  const folder = temporaryFolder();
  const file = folder.path("irm.db");
  const clock = manualClock();
  const boot = (port?: number) => serve({ store: file, clock, refreshTokens: true, keys: undefined, port });
  const one = await boot();
  const port = Number(new URL(one.baseUrl).port);
  const first = await exchangeForOwner(one);
  const second = await refreshWith(one, first.refreshToken);
  const other = await exchangeForOwner(one);
  await one.close();
  const kept = readdirSync(folder.path("")).map((name) => readFileSync(folder.path(name), "latin1"));
  expect(kept.join()).toContain(one.identity);
  for (const { token } of [{ token: first.refreshToken }, second.refreshToken, second.token])
    for (const part of secretsOf(token)) expect(kept.join()).not.toContain(part);

  const two = await boot(port);
  expectRefused(await use(two, first.refreshToken));
  await two.close();
  const three = await boot(port);
  expectRefused(await use(three, second.refreshToken.token));
  expect((await three.call("GET", `${IAM}/groups`, { token: second.token.token })).status).toBe(200);
  expect(await refreshWith(three, other.refreshToken)).toHaveProperty("refreshToken.token");
  expect([...reasons(two), ...reasons(three)]).toEqual(["refresh_reused", "refresh_unknown", "granted"]);
  await three.close();
  folder.remove();
});

it("row 31: a used refresh token ends it when the second use has passed every check before the first has rotated", async () => {
  const { signer, ...keys } = sharedKeys();
  const both = Promise.withResolvers<void>();
  let awaited = 0;
  const sign: typeof signer.sign = async (claims) => {
    if (awaited > 0) {
      awaited -= 1;
      if (awaited === 0) both.resolve();
      await both.promise;
    }
    return signer.sign(claims);
  };
  await start({ keys: { ...keys, signer: { ...signer, sign } } });
  const { refreshToken } = await exchangeForOwner(api);
  awaited = 2;
  const answers = await Promise.all([use(api, refreshToken), use(api, refreshToken)]);
  const [granted, refused] = answers.toSorted((a, b) => a.status - b.status) as [Answer, Answer];
  expect(granted.status).toBe(200);
  expectRefused(refused);
  expectRefused(await use(api, granted.json.refreshToken.token));
  expect(reasons(api)).toEqual(["granted", "refresh_reused", "refresh_unknown"]);
  const details = api.log.map((line) => JSON.parse(line).detail).filter(Boolean);
  expect(details).toEqual(["used twice at once", "no such family"]);
});

describe("a refresh token ends", () => {
  it("a day after the exchange, however often it was used", async () => {
    let { refreshToken: token } = await exchangeForOwner(api);
    for (let hour = 0; hour < 23; hour += 1) {
      api.clock.advance(HOUR_MS);
      token = (await refreshWith(api, token)).refreshToken.token;
    }
    api.clock.advance(HOUR_MS - 1);
    token = (await refreshWith(api, token)).refreshToken.token;
    api.clock.advance(1);
    expectRefused(await use(api, token));
    expect(reasons(api).at(-1)).toBe("refresh_expired");
  });

  it("with its identity", async () => {
    const { uid } = await api.actor("ci");
    const { refreshToken } = (await api.exchange(await api.identityToken("ci"), { identity: uid })).json;
    await api.ok("DELETE", `${IAM}/identities/${uid}`);
    expectRefused(await use(api, refreshToken));
    expect(reasons(api)).toEqual(["refresh_unknown"]);
  });

  it("when its identity trusts another workload, and stays ended with the old trust", async () => {
    const { uid } = await api.actor("ci");
    const { refreshToken } = (await api.exchange(await api.identityToken("ci"), { identity: uid })).json;
    const trust = (subject: string) =>
      api.ok("PATCH", `${IAM}/identities/${uid}`, { body: { claimMatch: { issuer: api.issuer, subject } } });
    await trust("another workload");
    expectRefused(await use(api, refreshToken));
    await trust("ci");
    expectRefused(await use(api, refreshToken));
    expect(reasons(api)).toEqual(["identity_changed", "refresh_unknown"]);
  });

  it("but not when the description of its identity changes", async () => {
    const { refreshToken } = await exchangeForOwner(api);
    await api.ok("PATCH", `${IAM}/identities/${api.identity}`, { body: { description: "changed" } });
    expect(await refreshWith(api, refreshToken)).toHaveProperty("refreshToken.token");
  });

  it("when the server no longer accepts refresh tokens", async () => {
    store = createStore(openDatabase(":memory:"));
    const before = await serve({ store: { ...store, close: () => undefined }, refreshTokens: true });
    const { refreshToken } = await exchangeForOwner(before);
    const port = Number(new URL(before.baseUrl).port);
    await before.close();
    await start({ store, port, refreshTokens: false });
    expectRefused(await use(api, refreshToken));
    expect(reasons(api)).toEqual(["refresh_disabled"]);
  });
});

it("a static-keys identity's family does not outlive its keys", async () => {
  const workload = createSigner({ clock: api.clock });
  const expirationTime = new Date(START_MS + HOUR_MS).toISOString();
  const staticKeys = {
    issuer: "https://workload.example",
    subject: "ci",
    issuerKeys: JSON.stringify(workload.jwks()),
    expirationTime,
  };
  const { uid } = await createRecord(api, "identities", api.organization, { name: "ci", staticKeys });
  const now = Math.floor(START_MS / 1000);
  const bearer = await workload.sign({ iss: staticKeys.issuer, sub: "ci", aud: api.authUrl, iat: now, exp: now + 60 });
  const { refreshToken } = (await api.exchange(bearer, { identity: uid })).json;
  const pair = await refreshWith(api, refreshToken);
  expect(pair.refreshToken.expiry).toBe(expirationTime);
  api.clock.advance(HOUR_MS);
  expectRefused(await use(api, pair.refreshToken.token));
  expect(reasons(api)).toEqual(["granted", "refresh_expired"]);
});

describe("the limits of a family", () => {
  const limits = { cap: ["groups.list", "groups.create"] };
  const heldCapabilities = (token: string, at: string) =>
    capabilitiesFromBits((payloadOf(token).cap as Body)[at] ?? "AAAAAAAAAAA");

  const group = (name: string, parent = api.organization): Promise<string> =>
    createUid(api, "groups", parent, { name });

  it.each([
    ["nothing: they stay", {}, ["CAP_IAM_GROUPS_CREATE", "CAP_IAM_GROUPS_LIST"]],
    ["a capability less", { cap: ["groups.list"] }, ["CAP_IAM_GROUPS_LIST"]],
    ["one of them and one more", { cap: ["groups.list", "groups.delete"] }, ["CAP_IAM_GROUPS_LIST"]],
    ["others", { cap: ["groups.delete", "roles.list"] }, []],
    ["one that does not exist", { cap: ["no.such"] }, []],
  ])("shrink for one token that is requested with %s", async (_, query, expected) => {
    const { refreshToken } = await exchangeForOwner(api, limits);
    const narrow = await refreshWith(api, refreshToken, query);
    expect(heldCapabilities(narrow.token.token, api.organization)).toEqual(expected);
    const remove = await api.call("DELETE", `${IAM}/groups/${api.organization}`, { token: narrow.token.token });
    expect(remove.status).toBe(403);
    // RFC 6749, section 6: the next refresh token is for what this one was for.
    const { token } = await refreshWith(api, narrow.refreshToken.token);
    expect(heldCapabilities(token.token, api.organization)).toEqual(["CAP_IAM_GROUPS_CREATE", "CAP_IAM_GROUPS_LIST"]);
  });

  it("hold scopes: the same, and one below; of one above what is inside, and of another group nothing", async () => {
    const left = await group("left");
    const [below, right] = [await group("below", left), await group("right")];
    let { refreshToken } = await exchangeForOwner(api, { scopes: [left] });
    for (const [scope, held, groups] of [
      [left, [left], "2"],
      [below, [below], "1"],
      [api.organization, [left], "2"],
      [right, [], "0"],
    ] as const) {
      const pair = await refreshWith(api, refreshToken, { scopes: [scope] });
      const { cap, internal } = payloadOf(pair.token.token) as { cap: Body; internal: Body };
      expect([scope, Object.keys(cap), internal.scopes]).toEqual([scope, held, held]);
      expect((await api.ok("GET", `${IAM}/groups`, { token: pair.token.token })).totalCount).toBe(groups);
      refreshToken = pair.refreshToken.token;
    }
  });

  it("hold the audience: all of them or some, and no other of ours", async () => {
    const localhost = api.baseUrl.replace("127.0.0.1", "localhost");
    const both = await exchangeForOwner(api, { aud: [api.baseUrl, localhost] });
    const one = await refreshWith(api, both.refreshToken, { aud: localhost });
    expect(payloadOf(one.token.token).aud).toBe(localhost);
    const again = await refreshWith(api, one.refreshToken.token, { aud: [api.baseUrl, localhost] });
    expect(payloadOf(again.token.token).aud).toEqual([api.baseUrl, localhost]);
    const { refreshToken } = await exchangeForOwner(api);
    expectRefused(await use(api, refreshToken, { aud: localhost }));
    expect(await refreshWith(api, refreshToken)).toHaveProperty("token.token");
  });

  it("are reported in full when they are malformed, and the token stays valid", async () => {
    const { refreshToken } = await exchangeForOwner(api);
    const refused = await use(api, refreshToken, { aud: "https://evil.example" });
    expect(refused.json.message).toMatch(/^Invalid argument: aud: must be http:/);
    expectInvalid(await use(api, refreshToken, { aud: undefined }), { aud: "Audience must be specified" });
    expectInvalid(await use(api, refreshToken, { scope: ["a", "b"] }), { scope: "must be given once" });
    expect(reasons(api)).toEqual(["request", "request", "request"]);
    expect(await refreshWith(api, refreshToken)).toHaveProperty("token.token");
  });
});

describe("a refresh token in the wrong place, or something else in its place", () => {
  it("is refused by the API, and at the exchange as a workload's token", async () => {
    const { refreshToken } = await exchangeForOwner(api);
    expectUnauthenticated(await api.call("GET", `${IAM}/groups`, { token: refreshToken }));
    expectRefused(await api.exchange(refreshToken, { identity: api.identity }));
    expect(await refreshWith(api, refreshToken)).toHaveProperty("token.token");
  });

  it.each<[string, () => string | Promise<string>, string]>([
    ["an API token", () => api.owner.token, "token_shape"],
    ["a workload's token", () => api.identityToken("owner"), "token_shape"],
    ["no base64", () => "token", "token_shape"],
    ["base64 of no JSON", () => btoa("token"), "token_shape"],
    ["base64 of a list", () => btoa("[]"), "token_shape"],
    ["no jti", () => btoa("{}"), "token_shape"],
    ["a jti that is no text", () => btoa('{"jti":1}'), "token_shape"],
    ["a jti twice", () => btoa(`{"jti":"${randomToken()}","jti":"${randomToken()}"}`), "token_shape"],
    ["a jti that is inherited", () => btoa(`{"__proto__":{"jti":"${randomToken()}"}}`), "token_shape"],
    ["an overlong one", () => btoa(JSON.stringify({ jti: randomToken(), pad: "x".repeat(4096) })), "token_shape"],
    ["one that was made up", () => btoa(JSON.stringify({ jti: randomToken() })), "refresh_unknown"],
  ])("%s is refused", async (_, token, reason) => {
    expectRefused(await use(api, await token()));
    expect(reasons(api)).toEqual([reason]);
    expect(families(store)).toHaveLength(1);
  });

  it("one with any change is refused, and counts as a used one of its family", async () => {
    const { refreshToken } = await exchangeForOwner(api);
    const later = { ...decodeRefreshToken(refreshToken), exp: decodeRefreshToken(refreshToken).exp + 86_400 };
    expectRefused(await use(api, btoa(JSON.stringify(later))));
    expectRefused(await use(api, refreshToken));
    expect(reasons(api)).toEqual(["refresh_reused", "refresh_unknown"]);
  });
});

const randomToken = () => `${"f".repeat(22)}.${"s".repeat(43)}`;

it("a failure of the server leaves the refresh token valid", async () => {
  const { signer, ...keys } = sharedKeys();
  let broken = false;
  const sign: typeof signer.sign = (claims) => (broken ? Promise.reject(new Error("no entropy")) : signer.sign(claims));
  await start({ keys: { ...keys, signer: { ...signer, sign } } });
  const { refreshToken } = await exchangeForOwner(api);
  broken = true;
  expectRefusal(await use(api, refreshToken), "INTERNAL", "the token could not be exchanged");
  broken = false;
  expect(await refreshWith(api, refreshToken)).toHaveProperty("token.token");
  expect(reasons(api)).toEqual(["internal", "granted"]);
});

it("leaves one audit line for each use, with the hash of the family and no part of a token", async () => {
  const first = await exchangeForOwner(api);
  const [own] = families(store).filter(({ id }) => api.log.at(-2)?.includes(id as string));
  const second = await refreshWith(api, first.refreshToken);
  await use(api, first.refreshToken);
  const lines = api.log.map((line) => JSON.parse(line) as Body).filter(({ event }) => event === "sts.refresh");
  const common = {
    event: "sts.refresh",
    time: "2026-01-28T12:54:21.189Z",
    identity: api.identity,
    issuer: api.issuer,
    subject: "owner",
    family: own?.id,
  };
  expect(lines).toMatchObject([
    { ...common, decision: "granted", reason: "granted", audience: [api.baseUrl] },
    { ...common, decision: "denied", reason: "refresh_reused", detail: "not the newest token of its family" },
  ]);
  for (const token of [first.refreshToken, second.refreshToken.token, first.token, second.token.token])
    for (const part of secretsOf(token)) expect(api.log.join("")).not.toContain(part);
});
