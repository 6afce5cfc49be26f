// The largest body of a request, on either wire.
import { type Operation, type OperationName, operations } from "../../schema/index.ts";

export const BODY_MAX = 1024 * 1024;

/** The limit of methods that read the body before a token is verified: a token exchange, a ping. */
const OPEN_BODY_MAX = 64 * 1024;

export const bodyMaxOf = (operation: OperationName): number => {
  const { auth = "token" }: Operation = operations[operation];
  return auth === "token" ? BODY_MAX : OPEN_BODY_MAX;
};
