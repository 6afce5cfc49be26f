// Errors of a session and not of one operation: every other operation of the process ends with the same one, so that it is
// reported once.

import { ConfigError } from "../../client/config.ts";
import { RefusedToken } from "../../client/refused-token.ts";
import { ApiError, isApiError } from "../../schema/index.ts";
import { WrongService } from "./service-address.ts";

/** Steps on the way to an API token: they are no operations of a resource. */
const SIGN_IN = ["Exchange", "GitHub OIDC token"];

/** No connection to the service: the request was never sent. */
export class NoConnection extends ApiError {}

/** A request, or the exchange of a token before it, that found no connection. */
export const isNoConnection = (error: unknown): boolean =>
  error instanceof NoConnection || (isApiError(error) && isNoConnection(error.cause));

/** Configuration, sign-in, connection or the wrong service, as the error or as what caused it; undefined for the error of one operation. */
export const sessionErrorOf = (error: unknown): Error | undefined => {
  if (!(error instanceof Error)) return undefined;
  const isOfSession =
    error instanceof ConfigError ||
    error instanceof RefusedToken ||
    error instanceof NoConnection ||
    error instanceof WrongService ||
    (isApiError(error) && SIGN_IN.includes(error.operation ?? ""));
  return isOfSession ? error : sessionErrorOf(error.cause);
};
