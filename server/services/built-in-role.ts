// The roles that exist from the start, readable by all (docs/contract.md#built-in-roles). The uid of `viewer` is the published
// one; the others differ between environments and are fixed here. A copy of another service has the roles of that service.
import { createHash } from "node:crypto";
import { capabilityFrom, type RoleBundles } from "../../schema/index.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";

/** uid of a built-in role: one segment, fixed. */
export const builtInRoleUid = (name: string): string =>
  name === "viewer"
    ? "63921b2c44617e3f2603851537be0123af4a57d7"
    : createHash("sha256").update(`built-in role ${name}`).digest("hex").slice(0, 40);

/** Enum names of capabilities. Each of the names is known: `roleProblems` (seed/roles.ts) has found the others. */
export const enumNames = (names: readonly string[]): string[] => names.map((one) => capabilityFrom(one) as string);

/** Writes missing built-in roles into the store, and updates those with another bundle. */
export const ensureBuiltInRoles = (store: Store, bundles: RoleBundles, now: number): void =>
  store.transaction(() => {
    for (const [name, capabilities] of Object.entries(bundles)) {
      const uid = builtInRoleUid(name);
      const body = { description: `Built-in role: ${name}`, capabilities: enumNames(capabilities) };
      const stored = store.get(shapes.role, uid);
      if (!stored) store.insert(shapes.role, { uid, createTime: now, updateTime: now, columns: { name }, body });
      else if (JSON.stringify(stored.body) !== JSON.stringify(body))
        store.update(shapes.role, { uid, updateTime: now, columns: { name }, body });
    }
  });

/** Names and uids of the built-in roles in the store that are not in the bundles. */
export const formerBuiltInRoles = (store: Store, bundles: RoleBundles): { uid: string; name: string }[] =>
  (store.statement("SELECT uid, name FROM roles WHERE parent IS NULL").all() as { uid: string; name: string }[]).filter(
    ({ name }) => !Object.hasOwn(bundles, name),
  );

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
