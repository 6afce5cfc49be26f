// The audit line of a decision: the decision, its subject and its reason, in the words of `refusal.ts`. It never contains a token,
// only values that the checks have accepted, and a hash of the token's id, which links the uses of one token.
import { createHash } from "node:crypto";
import { answerOf, type Reason, Refusal } from "./token/refusal.ts";
import type { WorkloadToken } from "./token/workload.ts";

// A type, not an interface: it passes as Record<string, unknown>.
export type ExchangeEvent = {
  event: "sts.exchange" | "sts.refresh";
  time: string;
  decision: "granted" | "denied";
  reason: Reason | "granted";
  /** our own words for the reason, which the caller never sees */
  detail?: string;
  /** uid of the identity that was requested or found */
  identity?: string;
  issuer?: string;
  subject?: string;
  kid?: string | undefined;
  /** SHA-256 of the upstream token's `jti`, hexadecimal */
  jtiHash?: string | undefined;
  /** hash of the family of the refresh token that was given out or presented */
  family?: string;
  /** the requested audience of the API token */
  audience?: string[];
};

export interface AuditOptions {
  /** milliseconds since the epoch */
  clock: () => number;
  /** one line for each decision */
  log: (event: ExchangeEvent) => void;
}

/** Takes a decision and logs it, whatever the outcome. It counts as denied until it succeeds. */
export const auditDecision = async <T>(
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

/** The claims of the token; its signature may still be wrong. */
export const describeToken = (token: WorkloadToken): Partial<ExchangeEvent> => ({
  issuer: token.issuer,
  subject: token.subject,
  kid: token.keyId,
  jtiHash: token.tokenId && createHash("sha256").update(token.tokenId).digest("hex"),
});
