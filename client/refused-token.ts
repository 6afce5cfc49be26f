// UNAUTHENTICATED from the API, with what only this process knows of the token: which setting it came from.
import { ApiError } from "../schema/index.ts";

/** The service did not take the API token, nor another one where there is a way to get one. */
export class RefusedToken extends ApiError {
  /** never the token: "that of IRM_TOKEN" */
  readonly origin: string;

  constructor({ code, message, details, operation }: ApiError, origin: string) {
    super(code, message, { details, ...(operation && { operation }) });
    this.origin = origin;
  }
}
