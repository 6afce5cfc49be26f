// The reasons to refuse a token: an internal word for the audit line, a fixed text for the caller (docs/internals/contract.md#d24). The steps
// throw a Refusal; server/sts/audit.ts and server/sts/token/api.ts turn it into the response, so that no step words a denial
// itself.
import { type ApiError, apiError, type FieldViolation, invalidArgument, isApiError } from "../../../schema/index.ts";

export type Reason =
  | "missing_bearer"
  | "request"
  | "token_shape"
  | "token_header"
  | "token_claims"
  | "own_issuer"
  | "identity_provider"
  | "identity_unknown"
  | "identity_kind"
  | "identity_malformed"
  | "aws_identity"
  | "static_keys_expired"
  | "static_keys_copied"
  | "issuer"
  | "document"
  | "key"
  | "signature"
  | "subject"
  | "audience"
  | "claim"
  | "times"
  | "expired"
  | "token_size"
  | "refresh_disabled"
  | "refresh_unknown"
  | "refresh_reused"
  | "refresh_expired"
  | "identity_changed"
  | "internal";

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly reason: Reason;
  /** replaces the fixed denial */
  readonly answer: ApiError | undefined;

  constructor(reason: Reason, detail: string, options: { cause?: unknown; answer?: ApiError } = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.answer = options.answer;
  }
}

export const refusal = (reason: Reason, detail: string, cause?: unknown): Refusal =>
  new Refusal(reason, detail, { cause });

/** One text for an unknown identity, another tenant's, a wrong claim, a bad signature, so that no probe tells them apart. */
const DENIED = "the token may not be exchanged for this identity";

/** Names the claim that does not match, in the published words, for a caller who may know it. */
export const claimRefusal = (reason: Reason, detail: string, claim: string): Refusal => {
  const cause = refusal(reason, detail);
  const answer = apiError("PERMISSION_DENIED", `${DENIED}: invalid ${JSON.stringify(claim)}`, { cause });
  return new Refusal(reason, detail, { answer });
};

/** One text for a missing bearer and for any bad one. */
export const unauthenticatedError = (cause?: unknown): ApiError =>
  apiError("UNAUTHENTICATED", "a valid bearer token is required", { cause });

/** Refuses a malformed request with all violations: they repeat only what the caller sent. */
export const refuseViolations = (violations: readonly FieldViolation[]): void => {
  if (violations.length === 0) return;
  throw new Refusal("request", "a malformed request", { answer: invalidArgument([...violations]) });
};

/** The response to a refusal. Any other error is a defect and becomes INTERNAL. */
export const answerOf = (error: unknown): ApiError => {
  if (error instanceof Refusal) return error.answer ?? apiError("PERMISSION_DENIED", DENIED, { cause: error });
  if (isApiError(error)) return error;
  return apiError("INTERNAL", "the token could not be exchanged", { cause: error });
};
