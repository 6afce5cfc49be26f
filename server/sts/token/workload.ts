// The claims of a workload's token, read before anything is verified (RFC 7519 section 4.1, RFC 8725 section 3.10). Issuer,
// subject and audience get a form that is safe to compare, look up and log.
import { isIssuer } from "../../../schema/index.ts";
import { type CompactToken, decodeCompact, ownValue } from "./compact.ts";
import { refusal } from "./refusal.ts";

const MAX_TEXT = 255;
const MAX_AUDIENCES = 20;

// Controls, invisible formatting (direction marks, zero width), lone surrogates, line and paragraph separators.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export interface WorkloadToken extends CompactToken {
  issuer: string;
  subject: string;
  /** one of them must be meant for us */
  audiences: string[];
  tokenId: string | undefined;
}

export const decodeWorkloadToken = (bearer: string): WorkloadToken => {
  const token = decodeCompact(bearer);
  const { claims } = token;
  const named = ownValue(claims, "iss");
  // Google's tokens have two names for their issuer; its discovery document lists only the longer one.
  const issuer = named === "accounts.google.com" ? "https://accounts.google.com" : named;
  if (typeof issuer !== "string" || !isIssuer(issuer)) throw refusal("token_claims", "iss is not the URL of an issuer");
  const subject = ownValue(claims, "sub");
  if (!isSafeText(subject)) throw refusal("token_claims", "sub is not a text of 1 to 255 characters");
  const audience = ownValue(claims, "aud");
  const audiences = Array.isArray(audience) ? audience : [audience];
  if (audiences.length === 0 || audiences.length > MAX_AUDIENCES || !audiences.every(isSafeText))
    throw refusal("token_claims", "aud is not a text of 1 to 255 characters, or a short list of them");
  const tokenId = ownValue(claims, "jti");
  return {
    ...token,
    issuer,
    subject,
    audiences,
    tokenId: typeof tokenId === "string" ? tokenId : undefined,
  };
};

const isSafeText = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= MAX_TEXT && !UNSAFE.test(value);
