// The error of the API (AIP-193, docs/internals/contract.md#errors): google.rpc.Status with typed details. One class on both sides of
// the wire: the server throws it and encodes it, the client decodes it and throws it.
import { z } from "zod";
import { duration, int32, message, plain, string, stringMap } from "./field.ts";

export interface FieldViolation {
  /** path relative to the resource, lowerCamel: `claimMatch.issuer` (docs/internals/contract.md#d29) */
  field: string;
  description: string;
}
export interface PreconditionViolation {
  type: string;
  subject?: string;
  description: string;
}

export type Detail =
  | {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo";
      reason: string;
      domain: string;
      metadata?: Record<string, string>;
    }
  | { "@type": "type.googleapis.com/google.rpc.BadRequest"; fieldViolations: FieldViolation[] }
  | { "@type": "type.googleapis.com/google.rpc.PreconditionFailure"; violations: PreconditionViolation[] }
  | {
      "@type": "type.googleapis.com/google.rpc.ResourceInfo";
      resourceType: string;
      resourceName: string;
      description?: string;
    }
  | { "@type": "type.googleapis.com/google.rpc.RetryInfo"; retryDelay: string };

export type DetailKind = "ErrorInfo" | "BadRequest" | "PreconditionFailure" | "ResourceInfo" | "RetryInfo";
type DetailOf<K extends DetailKind> = Extract<Detail, { "@type": `type.googleapis.com/google.rpc.${K}` }>;

const typeUrl = <K extends DetailKind>(kind: K) => `type.googleapis.com/google.rpc.${kind}` as const;

/** `google.rpc.Status` in JSON: the body of every error. */
export interface Status {
  code: number;
  message: string;
  details: Detail[];
}

export interface ApiErrorOptions {
  details?: Detail[];
  /** kept for logs; never sent */
  cause?: unknown;
  /** the method that failed, e.g. `CreateGroup` */
  operation?: string;
}

/** A person can do something about it: a command prints the message, and no stack. */
export class UserError extends Error {
  readonly exitCode: number = 1;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: Code;
  readonly details: Detail[];
  readonly operation: string | undefined;

  constructor(code: Code, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.operation = options.operation;
  }

  detail<K extends DetailKind>(kind: K): DetailOf<K> | undefined {
    return this.details.find((d): d is DetailOf<K> => d["@type"] === typeUrl(kind));
  }

  get fieldViolations(): FieldViolation[] {
    return this.detail("BadRequest")?.fieldViolations ?? [];
  }

  get preconditionViolations(): PreconditionViolation[] {
    return this.detail("PreconditionFailure")?.violations ?? [];
  }
}

/** An error whose message starts with its category. The pipeline adds ErrorInfo, because it knows the domain. */
export const apiError = (code: Code, text: string, options: ApiErrorOptions = {}): ApiError =>
  new ApiError(code, `${codes[code].category}: ${text}`, options);

/** All violations at once; the first one gives the message (docs/internals/contract.md#d29). */
export const invalidArgument = (violations: FieldViolation[], options: ApiErrorOptions = {}): ApiError => {
  const [first] = violations;
  const text = first ? [first.field, first.description].filter(Boolean).join(": ") : "the request is not valid";
  const details: Detail[] = [{ "@type": typeUrl("BadRequest"), fieldViolations: violations }];
  return apiError("INVALID_ARGUMENT", text, { ...options, details });
};

export const failedPrecondition = (violations: PreconditionViolation[]): ApiError =>
  apiError("FAILED_PRECONDITION", violations[0]?.description ?? "", {
    details: [{ "@type": typeUrl("PreconditionFailure"), violations }],
  });

/** When to retry: a Duration in JSON. */
export const retryInfo = (delayMs: number): Detail => ({
  "@type": typeUrl("RetryInfo"),
  retryDelay: `${(delayMs / 1000).toFixed(3)}s`,
});

const resourceInfo = (resourceType: string, resourceName: string): Detail[] => [
  { "@type": typeUrl("ResourceInfo"), resourceType, resourceName },
];

export const notFound = (resourceType: string, uid: string): ApiError =>
  apiError("NOT_FOUND", `${resourceType} ${uid} does not exist`, { details: resourceInfo(resourceType, uid) });

export const alreadyExists = (resourceType: string, uid: string, text: string): ApiError =>
  apiError("ALREADY_EXISTS", text, { details: resourceInfo(resourceType, uid) });

/**
 * The body of an error, ErrorInfo first: its reason is the code's name (docs/internals/contract.md#d30), unless the error has one. Errors quote the
 * request, which may be large. So the body has at most 64 KiB, and its violations at most `room` bytes.
 */
export const statusFromError = (error: ApiError, domain: string, room = VIOLATIONS_ROOM): Status => ({
  code: codes[error.code].number,
  message: cut(error.message, TEXT_MAX),
  details: [
    ...(error.detail("ErrorInfo") ? [] : [{ "@type": typeUrl("ErrorInfo"), reason: error.code, domain }]),
    ...error.details.map((detail) => limitViolations(detail, room)),
  ],
});

// In characters; JSON writes some characters with six bytes.
const TEXT_MAX = 2048;
const VIOLATION_TEXT_MAX = 512;
const VIOLATIONS_MAX = 100;
const VIOLATIONS_ROOM = 40 * 1024;

const cut = (text: string, max: number) => (text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text);

const limitViolations = (detail: Detail, room: number): Detail => {
  if ("fieldViolations" in detail)
    return { ...detail, fieldViolations: firstOf(detail.fieldViolations, room, { field: "" }) };
  return "violations" in detail ? { ...detail, violations: firstOf(detail.violations, room, { type: "" }) } : detail;
};

// As many violations as fit, then the number of omitted ones, in a violation with the fields of `rest`.
const firstOf = <V extends object>(violations: readonly V[], room: number, rest: Omit<V, "description">): V[] => {
  const kept: V[] = [];
  let left = room;
  for (const violation of violations.slice(0, VIOLATIONS_MAX)) {
    const texts = Object.entries(violation).map(([name, text]) => [name, cut(text, VIOLATION_TEXT_MAX)]);
    const short = Object.fromEntries(texts) as V;
    left -= Buffer.byteLength(JSON.stringify(short));
    if (left < 0) break;
    kept.push(short);
  }
  const omitted = violations.length - kept.length;
  return omitted > 0 ? [...kept, { ...rest, description: `and ${omitted} more` } as V] : kept;
};

/** Reads the body of an error. Undefined if it is not a status, such as a proxy's page or a truncated response. */
export const errorFromStatus = (body: unknown, operation?: string): ApiError | undefined => {
  if (typeof body !== "object" || body === null) return undefined;
  const { code, message, details } = body as Partial<Status>;
  const name = codeFromNumber(code);
  if (!name || typeof message !== "string") return undefined;
  const typed = Array.isArray(details) ? details.filter((detail) => typeof detail?.["@type"] === "string") : [];
  return new ApiError(name, message, { details: typed, operation });
};

export const isApiError = (error: unknown, code?: Code): error is ApiError =>
  error instanceof ApiError && (code === undefined || error.code === code);

// google.rpc.Code: number, HTTP status (docs/internals/contract.md#errors) and the category that opens a message
// (docs/internals/contract.md#d30). HTTP to code has a table of its own, since it is not the inverse.

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

// The messages of an error on the wire (AIP-193): google.rpc.Status and the details that this API uses. error.ts has their
// types; this file has their field numbers, for gRPC.

// The JSON of an Any is the JSON of its message, with the type as `@type`.
const Any = message("google.protobuf.Any", {});

export const StatusMessage = message("google.rpc.Status", {
  code: plain(1, int32),
  message: plain(2, string),
  details: plain(3, z.array(Any)),
});

/** The messages that `details` holds. */
export const detailMessages = [
  message("google.rpc.ErrorInfo", {
    reason: plain(1, string),
    domain: plain(2, string),
    metadata: plain(3, stringMap),
  }),
  message("google.rpc.RetryInfo", { retryDelay: plain(1, duration) }),
  message("google.rpc.PreconditionFailure", {
    violations: plain(
      1,
      z.array(
        message("google.rpc.PreconditionFailure.Violation", {
          type: plain(1, string),
          subject: plain(2, string),
          description: plain(3, string),
        }),
      ),
    ),
  }),
  message("google.rpc.BadRequest", {
    fieldViolations: plain(
      1,
      z.array(
        message("google.rpc.BadRequest.FieldViolation", { field: plain(1, string), description: plain(2, string) }),
      ),
    ),
  }),
  message("google.rpc.ResourceInfo", {
    resourceType: plain(1, string),
    resourceName: plain(2, string),
    owner: plain(3, string),
    description: plain(4, string),
  }),
] as const;
