// The roles that exist from the start, readable by all (docs/contract.md#built-in-roles). The uid of `viewer` is the published
// one; the others differ between environments and are fixed here.
import { createHash } from "node:crypto";
import { BUILT_IN_ROLE_CAPABILITIES, capabilityFrom } from "../../schema/index.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";

export const isBuiltInRole = (name: string): boolean => Object.hasOwn(BUILT_IN_ROLE_CAPABILITIES, name);

/** uid of a built-in role: one segment, fixed. */
export const builtInRoleUid = (name: string): string =>
  name === "viewer"
    ? "63921b2c44617e3f2603851537be0123af4a57d7"
    : createHash("sha256").update(`built-in role ${name}`).digest("hex").slice(0, 40);

/** Writes missing built-in roles into the store, and updates old ones. */
export const ensureBuiltInRoles = (store: Store, now: number): void =>
  store.transaction(() => {
    for (const [name, names] of Object.entries(BUILT_IN_ROLE_CAPABILITIES)) {
      const uid = builtInRoleUid(name);
      const capabilities = names.map((text) => {
        const capability = capabilityFrom(text);
        if (!capability) throw new TypeError(`built-in role ${name} names an unknown capability: ${text}`);
        return capability;
      });
      const body = { description: `Built-in role: ${name}`, capabilities };
      const stored = store.get(shapes.role, uid);
      if (!stored) store.insert(shapes.role, { uid, createTime: now, updateTime: now, columns: { name }, body });
      else if (JSON.stringify(stored.body) !== JSON.stringify(body))
        store.update(shapes.role, { uid, updateTime: now, columns: { name }, body });
    }
  });
