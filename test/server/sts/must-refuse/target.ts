// The target of the rows of docs/internals/faults.md#tokens-that-must-be-refused: an exchange, and an issuer that its identity
// trusts.
import type { Identity } from "../../../../schema/index.ts";
import { ec, ed25519, type Issuer, RSA, SUBJECT, sign } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";

/** The response, whatever the wire. */
export interface Result {
  /** the code's name; OK for an answer */
  code: string;
  message: string;
  /** of an error, without their type URL's host */
  details: Body[];
  /** of an answer */
  body: Body;
}

export interface Target {
  authUrl: string;
  /** audience of the API */
  api: string;
  /** trusted by the identity */
  issuer: Issuer;
  /** claims that are taken, with these changes */
  claims(changes?: Body): Body;
}

/** How an identity comes to be assumed; the default is the exact issuer and subject of the target's claims. */
export type Relationship = Pick<Identity, "claimMatch" | "staticKeys">;

export interface Row {
  /** of the list */
  row: number;
  what: string;
  bearer(target: Target): string | Promise<string>;
  /** in the audit line */
  reason: string;
  /** the claim that the answer names: the token is good, of the very issuer of the identity */
  invalid?: string;
  relationship?(target: Target): Relationship;
  /** the row says ✗net, or nothing has to be fetched to refuse it: not one connection to another host */
  isOffline?: boolean;
  /** where the header is no bearer: it does not come as far as the exchange */
  onWire?: "UNAUTHENTICATED";
}

/** A row about the token; the rest follows from the reason. */
export type TokenRow = [row: number, what: string, bearer: Row["bearer"], reason: string, onWire?: Row["onWire"]];

// What is refused before the signature is, and so without the issuer's keys.
const OFFLINE = ["token_shape", "token_header", "token_claims", "issuer"];
const INVALID: Record<string, string> = { audience: "aud", subject: "sub" };

export const tokenRow = ([row, what, bearer, reason, onWire]: TokenRow): Row => ({
  row,
  what,
  bearer,
  reason,
  isOffline: OFFLINE.includes(reason),
  ...(INVALID[reason] && { invalid: INVALID[reason] }),
  ...(onWire && { onWire }),
});

/** A token with the target's claims and these changes. */
export const signed =
  (
    changes: Body = {},
    ...using: Parameters<typeof sign> extends [unknown, ...infer Using] ? Using : never
  ): Row["bearer"] =>
  ({ claims }) =>
    sign(claims(changes), ...using);

/** What is answered to a refused exchange. */
export const deniedText = (invalid?: string): string =>
  `Permission denied: the token may not be exchanged for this identity${invalid ? `: invalid "${invalid}"` : ""}`;

export const trustExactly = ({ issuer }: Target): Relationship => ({
  claimMatch: { issuer: issuer.url, subject: SUBJECT },
});

// Generating a key is slow: the tests share these.
export const KEYS = {
  RSA,
  P256: ec("ec-256", "P-256"),
  P384: ec("ec-384", "P-384"),
  P521: ec("ec-521", "P-521"),
  ED: ed25519("ed-1"),
};

/** Every algorithm that is taken, with a key for it: the list must not be met by refusing everything. */
export const CONTROLS: [alg: string, key: (typeof KEYS)[keyof typeof KEYS]][] = [
  ["RS256", KEYS.RSA],
  ["RS384", KEYS.RSA],
  ["RS512", KEYS.RSA],
  ["PS256", KEYS.RSA],
  ["PS384", KEYS.RSA],
  ["PS512", KEYS.RSA],
  ["ES256", KEYS.P256],
  ["ES384", KEYS.P384],
  ["ES512", KEYS.P521],
  ["EdDSA", KEYS.ED],
];
