// Who may do what where (docs/contract.md#authorization). A caller holds the capabilities of the roles that are bound to it
// now (docs/contract.md#d28), at the group of each binding and everywhere below. The limits of its token apply.
import { ancestorsOf, apiError, capabilityFrom, capabilityName, isAncestorOrSelf } from "../../schema/index.ts";
import type { Store } from "../store/store.ts";
import type { ApiTokenDescription, Grants, Limits } from "../sts/index.ts";

/** A caller, with the limits of its token. */
export interface Caller extends Limits {
  /** uid of the token's identity */
  uid: string;
  grants: Grants;
  /** the operator of the service, who may do everything */
  isOperator?: true;
  /** an operator of a twin: uids of the groups where it may do everything, and grant what it does not hold */
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

const enumName = (capability: string): string => capabilityFrom(capability) ?? capability;

const holds = (caller: Caller, capability: string, uid: string): boolean => {
  if (caller.isOperator || caller.operates?.some((top) => isAncestorOrSelf(top, uid))) return true;
  const name = enumName(capability);
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
    .map((c) => capabilityName(c));
  if (missing.length > 0) throw apiError("PERMISSION_DENIED", `needs ${missing.join(", ")} at ${uid}`);
};
