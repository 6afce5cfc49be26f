// Failures of SQLite that pass without a restart (https://sqlite.org/rescode.html): the caller may come again.
import { type ApiError, apiError, retryInfo } from "../../schema/index.ts";

// Primary result codes.
const BUSY = 5;
const FULL = 13;

const BUSY_RETRY_MS = 1000;

/** How a failure that passes is told; undefined for any other. */
export const passingFailure = (error: unknown): ApiError | undefined => {
  switch (primaryCode(error)) {
    case FULL:
      return apiError("RESOURCE_EXHAUSTED", "the server's disk is full", { cause: error });
    case BUSY:
      return apiError("UNAVAILABLE", "the server's database is busy", {
        cause: error,
        details: [retryInfo(BUSY_RETRY_MS)],
      });
    default:
      return undefined;
  }
};

// Also of an error that was wrapped on its way.
const primaryCode = (error: unknown): number | undefined => {
  const { errcode, cause } = (error ?? {}) as { errcode?: number; cause?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  return cause === undefined ? undefined : primaryCode(cause);
};
