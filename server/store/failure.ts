// Failures of SQLite (https://sqlite.org/rescode.html): some pass without a restart, so the caller may retry; after the
// others, the database cannot be trusted.
import { type ApiError, apiError, retryInfo } from "../../schema/index.ts";
import { DatabaseLost } from "./file-guard.ts";

// Primary result codes.
const BUSY = 5;
const READONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const NOTADB = 26;

// Extended codes: a read that failed or came back short, and a failed sync, which leaves the contents of the disk unknown.
const LOST_IO: readonly number[] = [
  10 | (1 << 8), // READ
  10 | (2 << 8), // SHORT_READ
  10 | (4 << 8), // FSYNC
  10 | (5 << 8), // DIR_FSYNC
  10 | (32 << 8), // DATA
  10 | (33 << 8), // CORRUPTFS
];

const BUSY_RETRY_MS = 1000;

/** The error of a failure that passes; undefined for any other failure. */
export const passingFailure = (error: unknown): ApiError | undefined => {
  switch (codeOf(error) & 0xff) {
    case READONLY:
      return apiError("UNAVAILABLE", "the server's database is read-only now", { cause: error });
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

/** The error that callers get when the database is lost. The log names the reason. */
export const lostFailure = (error: unknown): ApiError =>
  apiError("UNAVAILABLE", "the server has lost its database; it serves again after its operator has restored it", {
    cause: error,
  });

/** The loss behind an error, even a wrapped one. */
export const lossIn = (error: unknown): DatabaseLost | undefined => {
  if (error === undefined || error === null) return undefined;
  return error instanceof DatabaseLost ? error : lossIn((error as Error).cause);
};

/** True of an error by which SQLite reports that the file is damaged, or cannot be read or synced. */
export const isDamage = (error: unknown): boolean => {
  const code = codeOf(error);
  return [CORRUPT, NOTADB].includes(code & 0xff) || LOST_IO.includes(code);
};

// 0: not an error of SQLite. Also searches wrapped errors.
const codeOf = (error: unknown): number => {
  const { errcode, cause } = (error ?? {}) as { errcode?: number; cause?: unknown };
  return errcode ?? (cause === undefined ? 0 : codeOf(cause));
};
