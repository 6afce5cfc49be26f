// google.rpc.Code: number, HTTP status (docs/contract.md#errors) and the category that opens a message
// (docs/contract.md#d30). HTTP to code has a table of its own, since it is not the inverse.
export const codes = {
  CANCELLED: { number: 1, http: 499, category: "Cancelled" },
  UNKNOWN: { number: 2, http: 500, category: "Unknown" },
  INVALID_ARGUMENT: { number: 3, http: 400, category: "Invalid argument" },
  DEADLINE_EXCEEDED: { number: 4, http: 504, category: "Deadline exceeded" },
  NOT_FOUND: { number: 5, http: 404, category: "Not found" },
  ALREADY_EXISTS: { number: 6, http: 409, category: "Already exists" },
  PERMISSION_DENIED: { number: 7, http: 403, category: "Permission denied" },
  RESOURCE_EXHAUSTED: { number: 8, http: 429, category: "Resource exhausted" },
  FAILED_PRECONDITION: { number: 9, http: 400, category: "Precondition failed" },
  ABORTED: { number: 10, http: 409, category: "Aborted" },
  OUT_OF_RANGE: { number: 11, http: 400, category: "Out of range" },
  UNIMPLEMENTED: { number: 12, http: 501, category: "Unimplemented" },
  INTERNAL: { number: 13, http: 500, category: "Internal" },
  UNAVAILABLE: { number: 14, http: 503, category: "Unavailable" },
  DATA_LOSS: { number: 15, http: 500, category: "Data loss" },
  UNAUTHENTICATED: { number: 16, http: 401, category: "Unauthenticated" },
} as const;

export type Code = keyof typeof codes;

const byNumber = new Map(Object.entries(codes).map(([name, { number }]) => [number as number, name as Code]));

export const codeFromNumber = (number: unknown): Code | undefined => byNumber.get(number as number);

/** The code of a response whose body has none: a proxy's page or a truncated response. */
export const codeFromHttp = (status: number): Code => {
  const known: Record<number, Code> = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
  };
  return known[status] ?? "UNKNOWN";
};
