// The roles that exist from the start, readable by all (docs/contract.md#built-in-roles). The uid of `viewer` is the published
// one; the others differ between environments and are fixed here. A copy of another service has the roles of that service.
import { createHash } from "node:crypto";
import { BUILT_IN_ROLE_CAPABILITIES, type BuiltInRole, capabilityFrom } from "../../schema/index.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";

export const isBuiltInRole = (name: string): boolean => Object.hasOwn(BUILT_IN_ROLE_CAPABILITIES, name);

/** uid of a built-in role: one segment, fixed. */
export const builtInRoleUid = (name: string): string =>
  name === "viewer"
    ? "63921b2c44617e3f2603851537be0123af4a57d7"
    : createHash("sha256").update(`built-in role ${name}`).digest("hex").slice(0, 40);

/** Its capabilities, by enum name. */
export const builtInCapabilities = (role: BuiltInRole): string[] =>
  BUILT_IN_ROLE_CAPABILITIES[role].map((text) => {
    const capability = capabilityFrom(text);
    if (!capability) throw new TypeError(`built-in role ${role} names an unknown capability: ${text}`);
    return capability;
  });

/** Writes missing built-in roles into the store, and updates old ones. */
export const ensureBuiltInRoles = (store: Store, now: number): void =>
  store.transaction(() => {
    for (const name of Object.keys(BUILT_IN_ROLE_CAPABILITIES) as BuiltInRole[]) {
      const uid = builtInRoleUid(name);
      const body = { description: `Built-in role: ${name}`, capabilities: builtInCapabilities(name) };
      const stored = store.get(shapes.role, uid);
      if (!stored) store.insert(shapes.role, { uid, createTime: now, updateTime: now, columns: { name }, body });
      else if (JSON.stringify(stored.body) !== JSON.stringify(body))
        store.update(shapes.role, { uid, updateTime: now, columns: { name }, body });
    }
  });

/** Key in a store with a copy: uid of a role for owners. */
export const OWNER_ROLE = "owner_role";

/** uid of the role that the founder of an organization gets. */
export const founderRoleIn = (store: Store): string => {
  const own = store.meta(OWNER_ROLE);
  if (own === undefined) return builtInRoleUid("owner");
  const copied = `SELECT uid FROM roles
    WHERE parent IS NULL AND name = 'owner' AND json_array_length(body, '$.capabilities') > 0 ORDER BY uid LIMIT 1`;
  return (store.statement(copied).get()?.uid as string | undefined) ?? own;
};
