// Identifies the caller (RFC 6750): one Authorization header with one of our bearer tokens. Every failure has the same text; the
// log gets the cause (docs/internals/contract.md#d23).
import {
  ancestorsOf,
  apiError,
  capabilityFrom,
  capabilityName,
  isAncestorOrSelf,
  isApiError,
} from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import { type ApiTokenDescription, type Grants, type Limits, type Sts, unauthenticated } from "../sts/index.ts";

export type Authenticate = ReturnType<typeof createAuthenticate>;

/** `operated`: uids of the groups where an operator of a twin, who acts as this identity, may do everything; "": as none */
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
  const bearer = (authorization: readonly string[]) => {
    const [header, ...others] = authorization;
    if (header === undefined) throw refuse("no Authorization header");
    if (others.length > 0) throw refuse("several Authorization headers");
    const [, token] = /^Bearer ([^\s,]+)$/i.exec(header) ?? [];
    if (!token) throw refuse("the Authorization header is not one bearer token");
    return token;
  };

  return {
    bearer,
    /** Verifies the token. Returns its identity, and a function that reads the grants of that identity at the time of the call. */
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
      return {
        uid,
        callerNow: (): Caller => {
          if (expiresAtMs <= clock()) throw refuse("the token expired before the request was complete");
          checkIdentity();
          const operates = isOperator && { operates: operated(uid) };
          return {
            uid,
            grants: grantsOf(store, uid),
            ...limits,
            ...operates,
            token: () => sts.describeApiToken(token),
          };
        },
      };
    },
  };
};

// Authorization (docs/internals/contract.md#authorization). A caller holds the capabilities of the roles that are bound to it
// now (docs/internals/contract.md#d28), at the group of each binding and everywhere below. The limits of its token apply.

/** A caller, with the limits of its token. */
export interface Caller extends Limits {
  /** uid of the token's identity */
  uid: string;
  grants: Grants;
  /** the operator of the service, who may do everything */
  isOperator?: true;
  /** an operator of a twin: uids of the groups where it may do everything, and grant capabilities that it does not hold */
  operates?: readonly string[];
  /** the other claims of its token */
  token(): ApiTokenDescription;
}

/** The caller of a method that needs no token. */
export const anonymous: Caller = {
  uid: "",
  grants: new Map(),
  token: () => {
    throw new TypeError("a caller without a token has no claims");
  },
};

/** The caller that applies a seed. No request ever has this caller. */
export const operator: Caller = { ...anonymous, isOperator: true };

/** The capabilities that the bindings grant to an identity now. */
export const grantsOf = (store: Store, identityUid: string): Map<string, Set<string>> => {
  const grants = new Map<string, Set<string>>();
  const bound = store
    .statement(
      `SELECT role_bindings.parent AS scope, roles.body AS body FROM role_bindings
       JOIN roles ON roles.uid = role_bindings.role_uid WHERE role_bindings.identity_uid = ?`,
    )
    .all(identityUid);
  for (const { scope, body } of bound) {
    const granted = grants.get(scope as string) ?? new Set();
    for (const capability of (JSON.parse(body as string) as { capabilities?: string[] }).capabilities ?? [])
      granted.add(capability);
    grants.set(scope as string, granted);
  }
  return grants;
};

const holds = (caller: Caller, capability: string, uid: string) => {
  if (caller.isOperator || caller.operates?.some((top) => isAncestorOrSelf(top, uid))) return true;
  const name = capabilityFrom(capability) ?? capability;
  if (caller.capabilities && !caller.capabilities.has(name)) return false;
  if (caller.scopes && !caller.scopes.some((scope) => isAncestorOrSelf(scope, uid))) return false;
  return [...ancestorsOf(uid), uid].some((group) => caller.grants.get(group)?.has(name));
};

/** True when the caller holds all of the capabilities at `uid`. */
export const can = (caller: Caller, capabilities: Iterable<string>, uid: string): boolean =>
  [...capabilities].every((capability) => holds(caller, capability, uid));

/** The groups, none below another, where the caller holds all of the capabilities. */
export const scopesWith = (caller: Caller, capabilities: readonly string[]): string[] => {
  const all = new Set([...caller.grants.keys(), ...(caller.scopes ?? []), ...(caller.operates ?? [])]);
  const candidates = [...all].filter((uid) => can(caller, capabilities, uid));
  const held = new Set(candidates);
  return candidates.filter((uid) => !ancestorsOf(uid).some((above) => held.has(above)));
};

/** PERMISSION_DENIED unless the caller holds all of the capabilities at `uid`. Names the missing ones. */
export const demand = (caller: Caller, capabilities: Iterable<string>, uid: string): void => {
  const missing = [...new Set(capabilities)]
    .filter((capability) => !holds(caller, capability, uid))
    .map(capabilityName);
  if (missing.length > 0) throw apiError("PERMISSION_DENIED", `needs ${missing.join(", ")} at ${uid}`);
};
