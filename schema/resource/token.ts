// The token exchange (docs/contract.md#exchange, in the spirit of RFC 8693): a workload's token in, an API token out. A
// refresh token is exchanged for an API token and the next refresh token (RFC 6749 section 6).
// No body binding: every field is a parameter of a query, of a form, or of JSON that is read as a form.
import type { z } from "zod";
import { message, plain, string, strings, timestamp } from "../field.ts";
import { type Operation, type Operations, rows } from "../operation.ts";

export const API_TOKEN_LIFE_MS = 60 * 60 * 1000;

export const ExchangeRequest = message(
  "oidc.ExchangeRequest",
  {
    /** the API audience, which is the base address; required */
    aud: plain(1, strings),
    /** deprecated spelling of one member of `scopes` */
    scope: plain(2, string),
    /** uid of the identity to assume; absent = the one whose exact issuer and subject match */
    identity: plain(4, string),
    /** friendly names; the token grants no others */
    cap: plain(5, strings),
    identityProvider: plain(7, string),
    /** uids of groups; the token grants nothing elsewhere */
    scopes: plain(8, strings),
  },
  { reserved: [3, "cluster", 6, "include_upstream_token"] },
);
export type ExchangeRequest = z.infer<typeof ExchangeRequest>;

// Clients parse this response strictly: no further field (docs/contract.md#exchange).
export const RawToken = message("oidc.RawToken", {
  token: plain(1, string, { secret: true }),
  refreshToken: plain(2, string, { secret: true }),
  expiry: plain(3, timestamp, { presence: true }),
});
export type RawToken = z.infer<typeof RawToken>;

/** The limits may be narrower than those of the first exchange, never wider. */
export const ExchangeRefreshTokenRequest = message("oidc.ExchangeRefreshTokenRequest", {
  /** as in the exchange */
  aud: plain(1, strings),
  scope: plain(2, string),
  cap: plain(3, strings),
  /** our own number: the published document names the field without one */
  scopes: plain(4, strings),
});
export type ExchangeRefreshTokenRequest = z.infer<typeof ExchangeRefreshTokenRequest>;

/** The refresh token is rotated: a used one is invalid. */
export const TokenPair = message("oidc.TokenPair", { token: plain(1, RawToken), refreshToken: plain(2, RawToken) });
export type TokenPair = z.infer<typeof TokenPair>;

const SERVICE = "oidc.SecurityTokenService";

/** Its request holds limits. None may be dropped, so an unknown field is refused. */
export const isExchange = ({ service }: Pick<Operation, "service">): boolean => service === SERVICE;

export const tokenOperations = rows(SERVICE, "/sts", {
  Exchange: {
    http: "POST /exchange",
    request: ExchangeRequest,
    response: RawToken,
    capabilities: [],
    auth: "workload",
  },
  ExchangeGet: {
    http: "GET /exchange",
    rpc: "Exchange",
    request: ExchangeRequest,
    response: RawToken,
    capabilities: [],
    auth: "workload",
  },
  ExchangeRefreshToken: {
    http: "POST /exchange_refresh_token",
    request: ExchangeRefreshTokenRequest,
    response: TokenPair,
    capabilities: [],
    auth: "workload",
  },
}) satisfies Operations;
