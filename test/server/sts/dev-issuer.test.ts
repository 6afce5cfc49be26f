import { describe, expect, it } from "vitest";
import { ANYONE, AUTH_URL, createService, NOW, payloadOf } from "./fixture.ts";

const mint = async (input: { subject: string; audience?: string | string[]; claims?: object; lifetimeMs?: number }) => {
  const { sts } = createService([]);
  const token = (await sts.devIssuer?.mint({ ...input, claims: { ...input.claims } })) ?? "";
  return { sts, token, claims: payloadOf(token) };
};

describe("the development issuer", () => {
  it("mints for whoever asks, for our exchange, for an hour", async () => {
    expect((await mint({ subject: "me" })).claims).toEqual({
      iss: `${AUTH_URL}/dev-issuer`,
      sub: "me",
      aud: AUTH_URL,
      iat: NOW,
      exp: NOW + 3600,
      jti: expect.any(String),
    });
  });

  it("takes an audience, a life and further claims, which do not replace its own", async () => {
    const { claims } = await mint({
      subject: "me",
      audience: ["a", "b"],
      lifetimeMs: 60_000,
      claims: { env: "prod", iss: "https://evil.example", sub: "evil" },
    });
    expect(claims).toMatchObject({
      iss: `${AUTH_URL}/dev-issuer`,
      sub: "me",
      aud: ["a", "b"],
      exp: NOW + 60,
      env: "prod",
    });
  });

  it("mints a token that has expired, to see what happens", async () => {
    const { sts, token } = await mint({ subject: "me", lifetimeMs: -3_600_000 });
    await expect(sts.exchange({ identity: ANYONE }, token)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message:
        "Permission denied: verifying token: oidc: token is expired (Token Expiry: 2026-01-28 11:00:00 +0000 UTC)",
    });
  });

  it.each([
    ["no subject", { subject: "" }, "subject: is required"],
    [
      "a life that is no number",
      { subject: "me", lifetimeMs: Number.NaN },
      "lifetimeMs: must be a number of milliseconds",
    ],
  ])("refuses %s", async (_, input, text) => {
    await expect(mint(input)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: `Invalid argument: ${text}` });
  });
});
