// Errors (docs/internals/contract.md#errors, docs/internals/contract.md#d30): the code table, the message, the form on the wire.
import { describe, expect, test } from "vitest";
import {
  ApiError,
  alreadyExists,
  apiError,
  type Code,
  codeFromHttp,
  codes,
  errorFromStatus,
  failedPrecondition,
  invalidArgument,
  isApiError,
  notFound,
  statusFromError,
} from "../../schema/index.ts";

const DOMAIN = "iam.chainguard.dev";

// Copied from docs/internals/contract.md#errors and docs/internals/contract.md#d30.
test.each<[Code, number, number, string]>([
  ["CANCELLED", 1, 499, "Cancelled"],
  ["UNKNOWN", 2, 500, "Unknown"],
  ["INVALID_ARGUMENT", 3, 400, "Invalid argument"],
  ["DEADLINE_EXCEEDED", 4, 504, "Deadline exceeded"],
  ["NOT_FOUND", 5, 404, "Not found"],
  ["ALREADY_EXISTS", 6, 409, "Already exists"],
  ["PERMISSION_DENIED", 7, 403, "Permission denied"],
  ["RESOURCE_EXHAUSTED", 8, 429, "Resource exhausted"],
  ["FAILED_PRECONDITION", 9, 400, "Precondition failed"],
  ["ABORTED", 10, 409, "Aborted"],
  ["OUT_OF_RANGE", 11, 400, "Out of range"],
  ["UNIMPLEMENTED", 12, 501, "Unimplemented"],
  ["INTERNAL", 13, 500, "Internal"],
  ["UNAVAILABLE", 14, 503, "Unavailable"],
  ["DATA_LOSS", 15, 500, "Data loss"],
  ["UNAUTHENTICATED", 16, 401, "Unauthenticated"],
])("%s is number %i, HTTP %i, and opens a message with %s", (code, number, http, category) => {
  expect(codes[code]).toEqual({ number, http, category });
  expect(apiError(code, "x").message).toBe(`${category}: x`);
  expect(errorFromStatus({ code: number, message: "m", details: [] })?.code).toBe(code);
});

test("the code of a response without one follows from its HTTP status", () => {
  expect([400, 401, 403, 404, 409, 429, 500, 501, 502, 503, 504, 418].map(codeFromHttp)).toEqual([
    "INVALID_ARGUMENT",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "ABORTED",
    "RESOURCE_EXHAUSTED",
    "INTERNAL",
    "UNIMPLEMENTED",
    "UNAVAILABLE",
    "UNAVAILABLE",
    "DEADLINE_EXCEEDED",
    "UNKNOWN",
  ]);
});

test("the body of an error never carries the cause, the operation or a stack", () => {
  const error = apiError("INTERNAL", "x", { cause: new Error("secret"), operation: "GetGroup" });
  expect(JSON.stringify(statusFromError(error, DOMAIN))).toBe(
    '{"code":13,"message":"Internal: x","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INTERNAL","domain":"iam.chainguard.dev"}]}',
  );
});

describe("the way over the wire and back", () => {
  test.each([
    ["INVALID_ARGUMENT", invalidArgument([{ field: "claimMatch.issuer", description: "x" }])],
    ["FAILED_PRECONDITION", failedPrecondition([{ type: "RESOURCE_NOT_EMPTY", description: "y" }])],
    ["NOT_FOUND", notFound("Group", "720909c9f5279097d847ad02a2f24ba8f59de36a")],
    ["ALREADY_EXISTS", alreadyExists("Repo", "u", "taken")],
    ["PERMISSION_DENIED", apiError("PERMISSION_DENIED", "needs groups.list at x")],
  ])("keeps code, message and details of %s", (code, error) => {
    const read = errorFromStatus(JSON.parse(JSON.stringify(statusFromError(error, DOMAIN))), "GetGroup");
    expect(read).toBeInstanceOf(ApiError);
    expect(read).toMatchObject({ code, message: error.message, operation: "GetGroup" });
    expect(read?.detail("ErrorInfo")).toMatchObject({ reason: code, domain: DOMAIN });
    expect(read?.details.slice(1)).toEqual(error.details);
    expect(read?.fieldViolations).toEqual(error.fieldViolations);
    expect(read?.preconditionViolations).toEqual(error.preconditionViolations);
  });

  test.each([
    ["a text", "<html>502</html>"],
    ["null", null],
    ["no code", { message: "x" }],
    ["a number that is not a code", { code: 17, message: "x" }],
    ["no message", { code: 5 }],
  ])("does not accept %s as an error of the API", (_, body) => expect(errorFromStatus(body)).toBeUndefined());

  test("ignores details that are not a list", () => {
    expect(errorFromStatus({ code: 5, message: "x", details: "y" })?.details).toEqual([]);
  });
});

test("a predicate recognises an error, with or without its code", () => {
  const error = apiError("NOT_FOUND", "x");
  expect(isApiError(error)).toBe(true);
  expect(isApiError(error, "NOT_FOUND")).toBe(true);
  expect(isApiError(error, "ABORTED")).toBe(false);
  expect(isApiError(new Error("Not found: x"))).toBe(false);
});
