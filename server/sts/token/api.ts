// Verifies an API token: our issuer, our key, our audience, not expired (RFC 7519 section 7.2). All failures have one
// response; the log gets the cause. Each request passes here, so node:crypto checks the one algorithm in place, in a
// fifth of the time that the thread pool takes.
import { type KeyObject, verify as verifyWith } from "node:crypto";
import { API_TOKEN_LIFE_MS, capabilitiesFromBits, isObject, isUidp, type Json, once } from "../../../schema/index.ts";
import type { Signer } from "../key/signer.ts";
import { decodeCompact, hasSignatureLength, ownValue } from "./compact.ts";
import type { Limits } from "./limit.ts";
import { refusal, unauthenticatedError } from "./refusal.ts";

const LEEWAY_MS = 60 * 1000;

/** The claims of a verified token. Limits are absent unless the exchange requested them. */
export interface ApiTokenClaims extends Limits {
  /** uid of the identity; "": of an operator, none */
  subject: string;
  expiresAtMs: number;
  /** of a twin: it may do everything in the copied organizations */
  isOperator?: boolean;
}

/** The claims of a token other than its holder and limits. */
export interface ApiTokenDescription {
  issuer: string;
  audience: string[];
  issuedAtMs: number;
  expiresAtMs: number;
  /** issuer of the token that was exchanged */
  actorIssuer?: string | undefined;
  /** of the exchanged token, and whether its issuer vouches for it */
  email?: string | undefined;
  emailVerified?: boolean | undefined;
}

interface ApiTokenOptions {
  clock: () => number;
  authUrl: string;
  audiences: readonly string[];
  signer: Signer;
  /** tokens of operators are accepted: only a twin mints any */
  operators?: boolean;
}

export const verifyApiToken = async (options: ApiTokenOptions, compact: string): Promise<ApiTokenClaims> => {
  try {
    return verify(options, compact);
  } catch (error) {
    throw unauthenticatedError(error);
  }
};

const verify = (options: ApiTokenOptions, compact: string): ApiTokenClaims => {
  const token = decodeCompact(compact);
  const { algorithm, keyId, claims } = token;
  if (algorithm !== "RS256") throw refusal("token_header", "alg is not ours");
  // A workload's token is refused here by its issuer, whichever keys verify it (RFC 8725 section 3.8).
  if (ownValue(claims, "iss") !== options.authUrl) throw refusal("issuer", "iss is not ours");
  const key = keyId === undefined ? undefined : options.signer.publicKey(keyId);
  if (!key) throw refusal("key", "kid is not ours");
  if (!isSignedBy(key as KeyObject, compact)) throw refusal("signature", "the signature is not ours");
  const audience = ownValue(claims, "aud");
  const audiences: unknown[] = Array.isArray(audience) ? audience : [audience];
  if (!options.audiences.some((ours) => audiences.includes(ours))) throw refusal("audience", "aud is not ours");
  const expiresAtMs = checkTimes(claims, options.clock());
  const subject = ownValue(claims, "sub");
  const internal = ownValue(claims, "internal") ?? {};
  if (options.operators && isObject(internal) && ownValue(internal, "operator") === true)
    return { subject: isUidp(subject) ? subject : "", expiresAtMs, isOperator: true };
  if (!isUidp(subject)) throw refusal("token_claims", "sub is not a uid");
  return { subject, expiresAtMs, ...readLimits(internal) };
};

/** Reads a verified token again: few requests need it. */
export const describeApiToken = (compact: string): ApiTokenDescription => {
  const { claims } = decodeCompact(compact);
  const actor = ownValue(claims, "act");
  const actorIssuer = isObject(actor) ? ownValue(actor, "iss") : undefined;
  const email = ownValue(claims, "email");
  const emailVerified = ownValue(claims, "email_verified");
  return {
    issuer: ownValue(claims, "iss") as string,
    audience: [ownValue(claims, "aud")].flat() as string[],
    issuedAtMs: (ownValue(claims, "iat") as number) * 1000,
    expiresAtMs: (ownValue(claims, "exp") as number) * 1000,
    actorIssuer: typeof actorIssuer === "string" ? actorIssuer : undefined,
    email: typeof email === "string" ? email : undefined,
    emailVerified: typeof emailVerified === "boolean" ? emailVerified : undefined,
  };
};

// No leeway for the expiry, which our own clock set. Some for `iat`, in case the clock was set back. We issue no longer
// lifetime.
const checkTimes = (claims: Json, nowMs: number): number => {
  const [expiry, issuedAt] = [ownValue(claims, "exp"), ownValue(claims, "iat")];
  if (typeof expiry !== "number" || typeof issuedAt !== "number") throw refusal("times", "no exp or no iat");
  if (Object.hasOwn(claims, "nbf")) throw refusal("times", "nbf is not ours");
  if (issuedAt * 1000 > nowMs + LEEWAY_MS) throw refusal("times", "iat is in the future");
  if ((expiry - issuedAt) * 1000 > API_TOKEN_LIFE_MS) throw refusal("times", "a longer life than an hour");
  if (!(expiry * 1000 > nowMs)) throw refusal("expired", "exp has passed");
  return expiry * 1000;
};

/** For one key. Beyond, the token that was verified first is verified again. */
const MAX_VERIFIED = 1000;

/** The tokens that a key is known to have signed. They are dropped with the key. */
const verifiedBy = once((_key: KeyObject) => new Set<string>());

// RS256: the header names it, and each of our keys is an RSA key (`key/signer.ts`).
const isSignedBy = (key: KeyObject, compact: string): boolean => {
  const verified = verifiedBy(key);
  if (verified.has(compact)) return true;
  if (!hasSignatureLength(compact, key)) return false;
  const end = compact.lastIndexOf(".");
  const signed = Buffer.from(compact.slice(0, end));
  if (!verifyWith("RSA-SHA256", signed, key, Buffer.from(compact.slice(end + 1), "base64url"))) return false;
  verified.add(compact);
  if (verified.size > MAX_VERIFIED) verified.delete(verified.values().next().value as string);
  return true;
};

const readLimits = (internal: unknown): Limits => {
  if (!isObject(internal)) throw refusal("token_claims", "internal is not an object");
  const bits = ownValue(internal, "cap");
  if (bits !== undefined && typeof bits !== "string") throw refusal("token_claims", "internal.cap is not a bit set");
  const scopes = ownValue(internal, "scopes");
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every(isUidp)))
    throw refusal("token_claims", "internal.scopes are not uids");
  return {
    ...(bits !== undefined && { capabilities: new Set(capabilitiesFromBits(bits)) }),
    ...(scopes !== undefined && { scopes }),
  };
};
