// The messages of an error on the wire (AIP-193): google.rpc.Status and the details that this API uses. error.ts has their
// types; this file has their field numbers, for gRPC.
import { z } from "zod";
import { duration, int32, message, plain, string, stringMap } from "./field.ts";

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
