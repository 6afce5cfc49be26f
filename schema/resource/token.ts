// The token exchange (docs/internals/contract.md#exchange, in the spirit of RFC 8693): a workload's token in, an API token out. A
// refresh token is exchanged for an API token and the next refresh token (RFC 6749 section 6).
// No body binding: every field is a parameter of a query, of a form, or of JSON that is read as a form.
import { z } from "zod";
import { message, plain, string, strings, timestamp } from "../field.ts";
import { Empty } from "../list.ts";
import { type Operation, type Operations, rows } from "../operation.ts";
import { GroupV1, RoleV1 } from "./v1.ts";

export const API_TOKEN_LIFE_MS = 60 * 60 * 1000;

export const ExchangeRequest = message(
  "oidc.ExchangeRequest",
  {
    aud: plain(1, strings, "The API audience, which is the base address; required"),
    scope: plain(2, string, "Deprecated spelling of one member of `scopes`"),
    identity: plain(
      4,
      string,
      "uid of the identity to assume; absent: the identity whose exact issuer and subject match",
    ),
    cap: plain(5, strings, "Friendly names; the token grants no others"),
    identityProvider: plain(7, string, "uid of an identity provider: not supported"),
    scopes: plain(8, strings, "uids of groups; the token grants nothing elsewhere"),
  },
  { reserved: [3, "cluster", 6, "include_upstream_token"] },
);
export type ExchangeRequest = z.infer<typeof ExchangeRequest>;

// Clients parse this response strictly: no further field (docs/internals/contract.md#exchange).
export const RawToken = message("oidc.RawToken", {
  token: plain(1, string, "The token; secret", { secret: true }),
  refreshToken: plain(2, string, "The refresh token; secret", { secret: true }),
  expiry: plain(3, timestamp, "When the token expires: RFC 3339, UTC", { presence: true }),
});
export type RawToken = z.infer<typeof RawToken>;

/** The limits may be narrower than in the first exchange, never wider. */
export const ExchangeRefreshTokenRequest = message("oidc.ExchangeRefreshTokenRequest", {
  aud: plain(1, strings, "As in the exchange"),
  scope: plain(2, string, "Deprecated spelling of one member of `scopes`"),
  cap: plain(3, strings, "Friendly names; the token grants no others"),
  scopes: plain(4, strings, "uids of groups; the token grants nothing elsewhere"),
});
export type ExchangeRefreshTokenRequest = z.infer<typeof ExchangeRefreshTokenRequest>;

/** The refresh token is rotated: a used one is invalid. */
export const TokenPair = message("oidc.TokenPair", {
  token: plain(1, RawToken, "The API token"),
  refreshToken: plain(2, RawToken, "The next refresh token"),
});
export type TokenPair = z.infer<typeof TokenPair>;

const SERVICE = "oidc.SecurityTokenService";

/** The request of an exchange holds limits. None may be dropped, so an unknown field is refused. */
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

// Ping: whether the API answers at all. No token needed.

export const pingOperations = rows("ping.PingService", "/ping/{version}", {
  Ping: {
    http: "GET /ping",
    request: message("ping.PingRequest", {}),
    response: message("ping.PingResponse", { response: plain(1, string, "What the request had") }),
    capabilities: [],
    auth: "none",
  },
}) satisfies Operations;

// WhoAmI (docs/internals/contract.md#validate), a method of v1: the claims of an API token about its holder, and the roles bound to it now.

export const WhoAmI = message("auth.WhoAmI", {
  issuer: plain(1, string, "`iss` of the token"),
  subject: plain(2, string, "uid of the identity"),
  audience: plain(3, strings, "`aud` of the token"),
  expiry: plain(4, timestamp, "When the token expires: RFC 3339, UTC"),
  issuedAt: plain(5, timestamp, "When the token was issued: RFC 3339, UTC"),
  capabilities: plain(
    101,
    z.array(
      message("auth.WhoAmI.Capability", {
        group: plain(1, GroupV1, "Where the role is granted"),
        role: plain(2, RoleV1, "The role; absent where the capabilities there differ from every known role"),
        capabilities: plain(
          3,
          strings,
          "Where `role` is absent: all that the holder may do there, by friendly names such as `groups.list`",
        ),
      }),
    ),
    "What the holder may do, and where",
  ),
  email: plain(102, string, "Address in the token that was exchanged"),
});

export const authOperations = rows("auth.Auth", "/auth/v1", {
  Validate: { http: "GET /ok", request: Empty, response: WhoAmI, capabilities: [] },
}) satisfies Operations;
