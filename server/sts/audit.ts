// The audit line of a decision: what was decided, for whom, and why, in the words of `refusal`. Never a token: of the one
// that was presented only what its checks have passed, and a hash of its id, so that one token's uses can be put together.
import { createHash } from "node:crypto";
import { answerOf, type Reason, Refusal } from "./refusal.ts";
import type { WorkloadToken } from "./token/workload.ts";

// A type, not an interface: it passes as Record<string, unknown>.
export type ExchangeEvent = {
  event: "sts.exchange" | "sts.refresh";
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
  /** hash of the family of the refresh token that was given out or presented */
  family?: string;
  /** what the API token was asked for */
  audience?: string[];
};

export interface AuditOptions {
  /** milliseconds since the epoch */
  clock: () => number;
  /** one line for each decision */
  log: (event: ExchangeEvent) => void;
}

/** Takes a decision and logs it, whichever way it goes: denied until something grants it. */
export const audited = async <T>(
  { clock, log }: AuditOptions,
  name: ExchangeEvent["event"],
  decide: (event: ExchangeEvent) => Promise<T>,
): Promise<T> => {
  const event: ExchangeEvent = {
    event: name,
    time: new Date(clock()).toISOString(),
    decision: "denied",
    reason: "internal",
  };
  try {
    const granted = await decide(event);
    Object.assign(event, { decision: "granted", reason: "granted" });
    return granted;
  } catch (error) {
    event.detail = (error as Error).message;
    if (error instanceof Refusal) event.reason = error.reason;
    throw answerOf(error);
  } finally {
    log(event);
  }
};

/** What the token says of itself; the signature may still prove it wrong. */
export const describeToken = (token: WorkloadToken): Partial<ExchangeEvent> => ({
  issuer: token.issuer,
  subject: token.subject,
  ...(token.keyId !== undefined && { kid: token.keyId }),
  ...(token.tokenId !== undefined && { jtiHash: createHash("sha256").update(token.tokenId).digest("hex") }),
});
