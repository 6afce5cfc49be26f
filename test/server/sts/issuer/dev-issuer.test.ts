import { describe, expect, it } from "vitest";
import { openHttp, serve } from "../../../harness/api-server.ts";
import { createService, NOW, payloadOf } from "../../../harness/sts.ts";
import { expectInvalid } from "../../../support/refusal.ts";

const mint = async (input: {
  subject: string;
  audience?: string | string[];
  claims?: object;
  lifetimeSeconds?: number;
}) => {
  const { sts } = createService([]);
  const token = (await sts.devIssuer?.mint({ ...input, claims: { ...input.claims } })) ?? "";
  return { sts, token, claims: payloadOf(token) };
};

describe("the development issuer", () => {
  it.each<[string, object, object]>([
    ["exp", { exp: NOW - 60 }, { exp: NOW - 60, iat: NOW - 60 }],
    ["exp and iat", { exp: NOW + 60, iat: NOW + 30 }, { exp: NOW + 60, iat: NOW + 30 }],
    ["nbf", { nbf: NOW + 600 }, { nbf: NOW + 600, iat: NOW, exp: NOW + 3600 }],
    ["iss", { iss: "https://other.example" }, { iss: "https://other.example" }],
    ["jti", { jti: "1" }, { jti: "1" }],
    ["an exp that is not a time", { exp: "soon" }, { exp: "soon", iat: NOW }],
  ])("writes %s of the claims", async (_, claims, expected) => {
    expect((await mint({ subject: "me", claims })).claims).toMatchObject(expected);
  });

  it.each([
    ["no subject", { subject: "" }, "subject: is required"],
    [
      "a lifetime that is no number",
      { subject: "me", lifetimeSeconds: NaN },
      "lifetimeSeconds: must be a number of seconds",
    ],
    ["a claim sub beside the subject", { subject: "me", claims: { sub: "evil" } }, "claims.sub: is given as subject"],
    ["a claim aud beside the audience", { subject: "me", claims: { aud: "a" } }, "claims.aud: is given as audience"],
    [
      "a claim exp beside one",
      { subject: "me", lifetimeSeconds: 1, claims: { exp: NOW } },
      "claims.exp: must not be given with a lifetime",
    ],
  ])("refuses %s", async (_, input, text) => {
    await expect(mint(input)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: `Invalid argument: ${text}` });
  });
});

describe("its page, over HTTP", async () => {
  const api = await serve();
  const client = openHttp(api.authUrl);

  it.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("mints claims of a hundred levels of %s, and refuses deeper ones", async (_, open, close) => {
    const nested = (levels: number) =>
      `{"x":${open.repeat(levels - 1)}${open === "[" ? "" : "0"}${close.repeat(levels - 1)}}`;
    const mintNested = (levels: number) =>
      client.send({
        method: "POST",
        target: "/dev-issuer/token",
        headers: { host: "localhost", "content-type": "application/json" },
        body: `{"subject":"s","claims":${nested(levels)}}`,
      });
    expect((await mintNested(100)).status).toBe(200);
    for (const levels of [101, 5_000, 100_000])
      expectInvalid(await mintNested(levels), { claims: "must not be nested in more than 100 levels" });
  });
});
