// Mints the API token (docs/internals/contract.md#api-tokens): its identity, actor, audience, lifetime and limits.
import { randomUUID } from "node:crypto";
import { API_TOKEN_LIFE_MS, capabilityBits } from "../../schema/index.ts";
import type { Signer } from "./key/signer.ts";
import { MAX_TOKEN_BYTES, ownValue } from "./token/compact.ts";
import { type Grants, type Limits, limitGrants } from "./token/limit.ts";
import { refusal } from "./token/refusal.ts";
import type { WorkloadToken } from "./token/workload.ts";

// Bindings in hundreds of groups would give a token that fits into no header.
const MAX_CAP_BYTES = 4096;

/** The holder of the exchanged token, as that token names it. */
export interface Actor {
  issuer: string;
  subject: string;
  /** the audience that was meant for us; clients expect a text here, not a list */
  audience: string;
  email?: string | undefined;
  emailVerified?: boolean | undefined;
}

interface Mint {
  issuer: string;
  /** uid of the identity */
  subject: string;
  audience: readonly string[];
  actor: Actor;
  grants: Grants;
  limits: Limits;
  /** of a twin; no exchange issues such a token */
  isOperator?: boolean;
}

/** Signs a token that is valid from now on; returns it with its expiry. */
export const mintApiToken = async (
  signer: Signer,
  nowMs: number,
  { issuer, subject, audience, actor, grants, limits, isOperator }: Mint,
) => {
  const issuedAt = Math.floor(nowMs / 1000);
  const expiry = issuedAt + API_TOKEN_LIFE_MS / 1000;
  const token = await signer.sign({
    iss: issuer,
    sub: subject,
    aud: audience.length === 1 ? audience[0] : audience,
    iat: issuedAt,
    exp: expiry,
    jti: randomUUID(),
    act: { iss: actor.issuer, sub: actor.subject, aud: actor.audience },
    email: actor.email,
    email_verified: actor.emailVerified,
    cap: capabilityClaim(limitGrants(grants, limits)),
    ...(isOperator ? { internal: { operator: true } } : limitsClaim(limits)),
  });
  if (token.length > MAX_TOKEN_BYTES) throw refusal("token_size", "the API token would be longer than 16 KiB");
  return { token, expiry: new Date(expiry * 1000).toISOString() };
};

/** `isIssuers`: the issuer signed the token. The holder of a static key may write any issuer into a token. */
export const actorOf = ({ issuer, subject, claims }: WorkloadToken, audience: string, isIssuers: boolean): Actor => {
  // For people to read, on the word of the upstream issuer. It grants nothing.
  const email = ownValue(claims, "email");
  const verified = isIssuers ? ownValue(claims, "email_verified") : undefined;
  return {
    issuer,
    subject,
    audience,
    email: typeof email === "string" && email.length <= 255 ? email : undefined,
    emailVerified: typeof verified === "boolean" ? verified : undefined,
  };
};

// Informs the client of its capabilities; the server reads the bindings at each request (docs/internals/contract.md#d28). A claim that is
// too long keeps the groups nearest to the root, whose capabilities hold everywhere below.
const capabilityClaim = (grants: Grants): Record<string, string> => {
  const claim: Record<string, string> = {};
  let size = 0;
  for (const group of [...grants.keys()].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    const bits = capabilityBits(grants.get(group) ?? []);
    size += group.length + bits.length + 6;
    if (size > MAX_CAP_BYTES) break;
    claim[group] = bits;
  }
  return claim;
};

// `token/api.ts` reads it back. Absent when no limit was requested, which differs from an empty limit.
const limitsClaim = ({ capabilities, scopes }: Limits) => {
  if (!capabilities && !scopes) return {};
  return { internal: { cap: capabilities && capabilityBits(capabilities), scopes } };
};
