// What an error of the API looks like, in full (docs/internals/contract.md#errors, docs/internals/contract.md#d31): tests state the code, the text
// and the details; this compares code, HTTP status, category and ErrorInfo with them.
import { expect } from "vitest";
import type { Answer } from "./http.ts";

// Number, HTTP status, category (docs/internals/contract.md#errors, docs/internals/contract.md#d30).
export const CODES = {
  INVALID_ARGUMENT: [3, 400, "Invalid argument"],
  NOT_FOUND: [5, 404, "Not found"],
  ALREADY_EXISTS: [6, 409, "Already exists"],
  PERMISSION_DENIED: [7, 403, "Permission denied"],
  RESOURCE_EXHAUSTED: [8, 429, "Resource exhausted"],
  FAILED_PRECONDITION: [9, 400, "Precondition failed"],
  UNIMPLEMENTED: [12, 501, "Unimplemented"],
  INTERNAL: [13, 500, "Internal"],
  UNAVAILABLE: [14, 503, "Unavailable"],
  UNAUTHENTICATED: [16, 401, "Unauthenticated"],
} as const;

export type RefusalCode = keyof typeof CODES;

export interface RefusalOptions {
  details?: object[];
  domain?: string;
  /** where it is not that of the code (docs/internals/contract.md#d31) */
  http?: number;
}

const type = (kind: string) => `type.googleapis.com/google.rpc.${kind}`;

/** By field, in their order; "": of the request. */
export type Violations = Readonly<Record<string, string | readonly string[]>>;

const listed = (violations: Violations): { field: string; description: string }[] =>
  Object.entries(violations).flatMap(([field, texts]) => [texts].flat().map((description) => ({ field, description })));

export const badRequest = (violations: Violations) => ({
  "@type": type("BadRequest"),
  fieldViolations: listed(violations),
});
export const preconditionFailure = (kind: string, ...descriptions: string[]) => ({
  "@type": type("PreconditionFailure"),
  violations: descriptions.map((description) => ({ type: kind, description })),
});
export const resourceInfo = (resourceType: string, resourceName: string) => ({
  "@type": type("ResourceInfo"),
  resourceType,
  resourceName,
});

/** What a value must be that is no uid, or no name. */
export const NO_UID = "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below";
export const NO_NAME = 'name must match "^[a-z0-9 ._-]{1,}$"';

/** The body of an error. */
export const statusBody = (code: RefusalCode, text: string, { details = [], domain = "iam" }: RefusalOptions = {}) => ({
  code: CODES[code][0],
  message: `${CODES[code][2]}: ${text}`,
  details: [{ "@type": type("ErrorInfo"), reason: code, domain: `${domain}.chainguard.dev` }, ...details],
});

/** HTTP status and the whole body. */
export const expectRefusal = (answer: Answer, code: RefusalCode, text: string, options: RefusalOptions = {}): void => {
  expect({ status: answer.status, body: answer.json }).toEqual({
    status: options.http ?? CODES[code][1],
    body: statusBody(code, text, options),
  });
  expect(answer.headers["content-type"]).toBe("application/json");
};

/** INVALID_ARGUMENT with exactly these violations, the message made from the first (docs/internals/contract.md#d29). */
export const expectInvalid = (answer: Answer, violations: Violations, domain?: string): void => {
  const [{ field, description }] = listed(violations) as [{ field: string; description: string }];
  expectRefusal(answer, "INVALID_ARGUMENT", field ? `${field}: ${description}` : description, {
    details: [badRequest(violations)],
    ...(domain !== undefined && { domain }),
  });
};

export const expectDenied = (answer: Answer, capabilities: string, at: string, domain?: string): void =>
  expectRefusal(answer, "PERMISSION_DENIED", `needs ${capabilities} at ${at}`, domain ? { domain } : {});

/** NOT_FOUND with the record that is missing (docs/internals/contract.md#d4). */
export const expectNotFound = (answer: Answer, kind: string, uid: string, domain?: string): void =>
  expectRefusal(answer, "NOT_FOUND", `${kind} ${uid} does not exist`, {
    details: [resourceInfo(kind, uid)],
    ...(domain ? { domain } : {}),
  });

/** UNAUTHENTICATED: one fixed text for every cause (docs/internals/contract.md#d23). */
export const expectUnauthenticated = (answer: Answer, domain?: string): void => {
  expectRefusal(answer, "UNAUTHENTICATED", "a valid bearer token is required", domain ? { domain } : {});
  expect(answer.headers["www-authenticate"]).toBe("Bearer");
};
