// An error on its way out over REST: HTTP status, headers, and google.rpc.Status as the body (AIP-193).
import { type ApiError, codes, domainOf, type Status, statusFromError } from "../../schema/index.ts";

export interface RestError {
  http: number;
  headers: Record<string, string>;
  json: Status;
}

/** `http`: where it is not the status of the code (docs/contract.md#d31). */
export const restError = (error: ApiError, service = "iam", http: number = codes[error.code].http): RestError => {
  const delay = error.detail("RetryInfo")?.retryDelay;
  return {
    http,
    headers: {
      ...(error.code === "UNAUTHENTICATED" && { "www-authenticate": "Bearer" }),
      ...(delay && { "retry-after": String(Math.ceil(Number.parseFloat(delay))) }),
    },
    json: statusFromError(error, domainOf(service)),
  };
};
