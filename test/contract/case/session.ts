import { expect } from "vitest";
import { all, type Cases } from "../fixture.ts";

export const cases = {
  Exchange: {
    request: ({ api }) => ({
      aud: [api.baseUrl],
      identity: api.identity,
      cap: ["groups.list"],
      scopes: [api.organization],
    }),
    answer: () => ({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expiry: "2026-01-28T13:54:21.000Z" }),
    volatile: ["token", "refreshToken"],
  },
  ExchangeGet: {
    request: ({ api }) => ({ aud: [api.baseUrl], identity: api.identity, identityProvider: "" }),
    answer: () => ({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expiry: "2026-01-28T13:54:21.000Z" }),
    volatile: ["token", "refreshToken"],
  },
  Ping: { request: () => ({}), answer: () => ({ response: "pong" }), bearer: () => null },
  Validate: {
    access: all("any valid token"),
    request: () => ({}),
    answer: ({ api }) => ({ issuer: api.authUrl, subject: api.identity, audience: [api.baseUrl] }),
  },
  ExchangeRefreshToken: {
    request: ({ api }) => ({ aud: [api.baseUrl], cap: ["groups.list"], scopes: [api.organization] }),
    answer: () => ({ token: { expiry: "2026-01-28T13:54:21.000Z" }, refreshToken: {} }),
    bearer: async ({ api }) => {
      const query = { aud: api.baseUrl, identity: api.identity };
      return (await api.exchange(await api.identityToken("owner"), query)).json.refreshToken as string;
    },
    volatile: ["token", "refreshToken"],
  },
} satisfies Cases;
