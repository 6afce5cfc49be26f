// The audit line of an exchange: what was decided, for whom, and why, in the words of `refusal`. Never a token: of the
// upstream one only what its checks have passed, and a hash of its id, so that one token's uses can be put together.
import { createHash } from "node:crypto";
import type { Reason } from "./refusal.ts";
import type { WorkloadToken } from "./workload-token.ts";

// A type, not an interface: it passes as Record<string, unknown>.
export type ExchangeEvent = {
  event: "sts.exchange";
  time: string;
  decision: "granted" | "denied";
  reason: Reason | "granted";
  /** our own words on the reason; the caller never sees them */
  detail?: string;
  /** uid of the identity that was asked for or found */
  identity?: string;
  issuer?: string;
  subject?: string;
  kid?: string;
  /** SHA-256 of the upstream token's `jti`, hexadecimal */
  jtiHash?: string;
  /** what the API token was asked for */
  audience?: string[];
};

/** Denied until something grants it. */
export const openEvent = (nowMs: number): ExchangeEvent => ({
  event: "sts.exchange",
  time: new Date(nowMs).toISOString(),
  decision: "denied",
  reason: "internal",
});

/** What the token says of itself; the signature may still prove it wrong. */
export const describeToken = (token: WorkloadToken): Partial<ExchangeEvent> => ({
  issuer: token.issuer,
  subject: token.subject,
  ...(token.keyId !== undefined && { kid: token.keyId }),
  ...(token.tokenId !== undefined && { jtiHash: createHash("sha256").update(token.tokenId).digest("hex") }),
});
