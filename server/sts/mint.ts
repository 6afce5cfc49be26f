// The API token (docs/contract.md#api-tokens): who acts, for how long, for whom, within which limits.
import { randomUUID } from "node:crypto";
import { API_TOKEN_LIFE_MS, capabilityBits } from "../../schema/index.ts";
import type { Signer } from "./key/signer.ts";
import { type Grants, type Limits, limitGrants } from "./limit.ts";
import { refusal } from "./refusal.ts";
import { MAX_TOKEN_BYTES } from "./token/compact.ts";
import { ownValue } from "./token/strict-json.ts";
import type { WorkloadToken } from "./token/workload.ts";

// An identity that is bound in hundreds of groups would get a token that fits in no header.
const MAX_CAP_BYTES = 4096;

/** Whose token was exchanged, as that token says. */
export interface Actor {
  issuer: string;
  subject: string;
  /** the one of its audiences that was meant for us: clients read a text here, no list */
  audience: string;
  email?: string;
  emailVerified?: boolean;
}

export interface Mint {
  issuer: string;
  /** uid of the identity */
  subject: string;
  audience: readonly string[];
  actor: Actor;
  grants: Grants;
  limits: Limits;
}

/** Signs a token that begins now; answers it with its end. */
export const mintApiToken = async (signer: Signer, nowMs: number, mint: Mint) => {
  const { issuer, subject, audience, actor, grants, limits } = mint;
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
    ...(actor.email !== undefined && { email: actor.email }),
    ...(actor.emailVerified !== undefined && { email_verified: actor.emailVerified }),
    cap: capabilityClaim(limitGrants(grants, limits)),
    ...limitsClaim(limits),
  });
  if (token.length > MAX_TOKEN_BYTES) throw refusal("token_size", "the API token would be longer than 16 KiB");
  return { token, expiry: new Date(expiry * 1000).toISOString() };
};

/** `isIssuers`: its issuer signed it, and not somebody with a key that an identity holds, who may write any issuer into it. */
export const actorOf = ({ issuer, subject, claims }: WorkloadToken, audience: string, isIssuers: boolean): Actor => {
  // For people to read; the upstream issuer's word, on which nothing is granted.
  const email = ownValue(claims, "email");
  const verified = isIssuers ? ownValue(claims, "email_verified") : undefined;
  return {
    issuer,
    subject,
    audience,
    ...(typeof email === "string" && email.length <= 255 && { email }),
    ...(typeof verified === "boolean" && { emailVerified: verified }),
  };
};

// Informs the client what it may do; the server reads the bindings as they are then (docs/contract.md#d28). So the claim may
// stop short, and keeps the groups nearest to the root, whose capabilities hold for all below.
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

// server/sts/token/api.ts reads it back; absent when no limit was asked for, which is not the same as an empty one.
const limitsClaim = ({ capabilities, scopes }: Limits) => {
  if (!capabilities && !scopes) return {};
  return { internal: { ...(capabilities && { cap: capabilityBits(capabilities) }), ...(scopes && { scopes }) } };
};
