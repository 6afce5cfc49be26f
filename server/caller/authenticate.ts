// Who is calling (RFC 6750): one Authorization header with one bearer token of our own. Every failure has the same text; the
// cause goes to the log (docs/contract.md#d23).
import { isApiError } from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import { type Sts, unauthenticated } from "../sts/index.ts";
import { type Caller, grantsOf } from "./authorize.ts";

export type Authenticate = ReturnType<typeof createAuthenticate>;

/** `operated`: uids of the groups where an operator of a twin may do everything, who acts as this identity; "": as none */
export const createAuthenticate = (
  store: Store,
  sts: Sts,
  clock: () => number,
  log: Log,
  operated: (identity: string) => readonly string[] = () => [],
) => {
  const refuse = (reason: string, cause?: unknown) => {
    log("info", "unauthenticated", { reason });
    return unauthenticated(cause);
  };

  /** The token of the only Authorization header, unverified. */
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
    /** Verifies the token. Returns its identity, and a function that reads what that identity is granted at that moment. */
    token: async (authorization: readonly string[]) => {
      const token = bearer(authorization);
      const claims = await sts.verifyApiToken(token).catch((error: unknown) => {
        const cause = isApiError(error) && error.cause instanceof Error ? error.cause.message : String(error);
        throw refuse(cause, error);
      });
      const { subject: uid, expiresAtMs, isOperator, ...limits } = claims;
      const checkIdentity = () => {
        if (isOperator && uid === "") return;
        if (!store.get(shapes.identity, uid)) throw refuse("the identity of the token was deleted");
      };
      checkIdentity();
      const callerNow = (): Caller => {
        if (expiresAtMs <= clock()) throw refuse("the token expired before the request was complete");
        checkIdentity();
        const operates = isOperator && { operates: operated(uid) };
        return { uid, grants: grantsOf(store, uid), ...limits, ...operates, token: () => sts.describeApiToken(token) };
      };
      return { uid, callerNow };
    },
  };
};
