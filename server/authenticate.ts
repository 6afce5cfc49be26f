// Who is calling (api.md section 5, RFC 6750): one Authorization header with one bearer token of our own. Every failure
// has the same text; the cause goes to the log (decision 23).
import { isApiError } from "../schema/index.ts";
import { type Caller, grantsOf } from "./authorize.ts";
import type { Log } from "./log.ts";
import { identities } from "./store/shape.ts";
import type { Store } from "./store/store.ts";
import { type Sts, unauthenticated } from "./sts/index.ts";

export interface Authenticate {
  /** the token of the only Authorization header, unverified */
  bearer(authorization: readonly string[]): string;
  caller(authorization: readonly string[]): Promise<Caller>;
}

export const createAuthenticate = (store: Store, sts: Sts, log: Log): Authenticate => {
  const refuse = (reason: string, cause?: unknown) => {
    log("info", "unauthenticated", { reason });
    return unauthenticated(cause);
  };

  const bearer = (authorization: readonly string[]): string => {
    const [header, ...others] = authorization;
    if (header === undefined) throw refuse("no Authorization header");
    if (others.length > 0) throw refuse("several Authorization headers");
    const [, token] = /^Bearer ([^\s,]+)$/i.exec(header) ?? [];
    if (!token) throw refuse("the Authorization header is not one bearer token");
    return token;
  };

  return {
    bearer,
    caller: async (authorization) => {
      const token = bearer(authorization);
      const claims = await sts.verifyApiToken(token).catch((error: unknown) => {
        const cause = isApiError(error) && error.cause instanceof Error ? error.cause.message : String(error);
        throw refuse(cause, error);
      });
      if (!store.get(identities, claims.subject)) throw refuse("the identity of the token was deleted");
      return {
        uid: claims.subject,
        grants: grantsOf(store, claims.subject),
        ...(claims.capabilities && { capabilities: claims.capabilities }),
        ...(claims.scopes && { scopes: claims.scopes }),
        token: () => sts.describeApiToken(token),
      };
    },
  };
};
