// Signature (RFC 7515 section 5.2, by jose) and times (RFC 7519 section 4.1) of a workload's token.
import type { KeyObject } from "node:crypto";
import { compactVerify } from "jose";
import { apiError, type Json } from "../../schema/index.ts";
import { type CompactToken, hasSignatureLength, ownValue } from "./token/compact.ts";
import { Refusal, refusal } from "./token/refusal.ts";

const LEEWAY_SECONDS = 60;
const MAX_LIFE_SECONDS = 24 * 60 * 60;
/** 9999-12-31, the last time that a date can express */
const MAX_SECONDS = 253_402_300_799;

export const verifySignature = async (token: CompactToken, key: KeyObject): Promise<void> => {
  if (!hasSignatureLength(token.compact, key)) throw refusal("signature", "not as long as a signature of the key");
  try {
    await compactVerify(token.compact, key, { algorithms: [token.algorithm] });
  } catch (cause) {
    throw refusal("signature", "the key did not make the signature", cause);
  }
};

/** Requires `exp`, and checks `nbf` and `iat` where they are present. The longest lifetime is 24 hours. */
export const checkTimes = (claims: Json, nowMs: number): void => {
  const now = nowMs / 1000;
  const expiry = seconds(claims, "exp");
  const notBefore = seconds(claims, "nbf");
  const issuedAt = seconds(claims, "iat");
  if (expiry === undefined) throw refusal("times", "no exp");
  if (notBefore !== undefined && notBefore > now + LEEWAY_SECONDS) throw refusal("times", "nbf is in the future");
  if (issuedAt !== undefined && issuedAt > now + LEEWAY_SECONDS) throw refusal("times", "iat is in the future");
  if (issuedAt !== undefined && issuedAt > expiry) throw refusal("times", "exp is before iat");
  if (expiry - (issuedAt ?? now) > MAX_LIFE_SECONDS) throw refusal("times", "a life of more than 24 hours");
  if (expiry > now - LEEWAY_SECONDS) return;
  // The published text comes from go-oidc, with Go's spelling of a time.
  const time = new Date(expiry * 1000).toISOString().replace(/^(.*)T(.*)\.\d+Z$/, "$1 $2 +0000 UTC");
  const text = `verifying token: oidc: token is expired (Token Expiry: ${time})`;
  const cause = refusal("expired", "exp has passed");
  throw new Refusal("expired", cause.message, { answer: apiError("PERMISSION_DENIED", text, { cause }) });
};

/** True when `checkTimes` accepts the token. */
export const isTimely = (claims: Json, nowMs: number): boolean => {
  try {
    checkTimes(claims, nowMs);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
};

const seconds = (claims: Json, name: string) => {
  const value = ownValue(claims, name);
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !(value >= 0 && value <= MAX_SECONDS))
    throw refusal("times", `${name} is not a time`);
  return value;
};
