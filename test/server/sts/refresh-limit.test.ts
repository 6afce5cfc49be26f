// Limits of a refresh token: it gets no more than the first exchange, does not replace other tokens, and is in no log.

import { beforeEach, describe, expect, it } from "vitest";
import { capabilitiesFromBits } from "../../../schema/index.ts";
import type { Store } from "../../../server/store/store.ts";
import { IAM, sharedKeys, type TestServer } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { payloadOf } from "../../harness/sts.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, expectUnauthenticated } from "../../support/refusal.ts";
import {
  decodeRefreshToken,
  exchangeForOwner,
  expectRefused,
  families,
  reasons,
  refreshWith,
  start,
  use,
} from "./refresh-fixture.ts";

let api: TestServer;
let store: Store;
beforeEach(async () => {
  ({ api, store } = await start());
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
  it("is refused by the API", async () => {
    const { refreshToken } = await exchangeForOwner(api);
    expectUnauthenticated(await api.call("GET", `${IAM}/groups`, { token: refreshToken }));
    expect(await refreshWith(api, refreshToken)).toHaveProperty("token.token");
  });

  it("cannot be exchanged as a workload's token", async () => {
    const { refreshToken } = await exchangeForOwner(api);
    expectRefused(await api.exchange(refreshToken, { identity: api.identity }));
    expect(await refreshWith(api, refreshToken)).toHaveProperty("token.token");
  });

  it("a missing one is unauthenticated", async () => {
    expectUnauthenticated(await use(api, null));
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
  ({ api } = await start({ keys: { ...keys, signer: { ...signer, sign } } }));
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
  const log = api.log.join("");
  for (const token of [first.refreshToken, second.refreshToken.token])
    for (const part of [token, ...(decodeRefreshToken(token).jti as string).split(".")])
      expect(log).not.toContain(part);
  for (const token of [first.token, second.token.token])
    for (const part of (token as string).split(".").slice(1)) expect(log).not.toContain(part);
});
