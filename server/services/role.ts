// Roles: sets of capabilities. A caller grants only what it holds (docs/internals/contract.md#d21); built-in roles are read-only.

import { createHash } from "node:crypto";
import {
  capabilityFrom,
  type FieldViolation,
  failedPrecondition,
  isAncestorOrSelf,
  isRoot,
  type PreconditionViolation,
  parentOf,
  type Role,
  type RoleBundles,
} from "../../schema/index.ts";
import { demand } from "../caller/caller.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { existing, recordsOf, uidIn } from "./record.ts";

export const capabilitiesOfRole = (row: Row): string[] => (row.body.capabilities as string[] | undefined) ?? [];

const records = recordsOf("role");

export const roleService = {
  // Unscoped: everyone may read a built-in role, and a custom one requires roles.list at its group.
  GetRole: ({ uid }, context) => {
    if (!isRoot(uid)) demand(context.caller, ["roles.list"], uid);
    return records.get({ uid }, context);
  },

  ListRoles: records.list(({ name }) => equals({ name })),

  CreateRole: ({ parent, role }, context) => {
    const input = withoutRepeats(records.input(context, role));
    // Built-in roles of another service are also copied.
    if (parent || !context.original) existing(context, "group", parent);
    demandHeld(context, input.capabilities, parent);
    return records.insert(context, uidIn(context, parent), input);
  },

  UpdateRole: ({ role, updateMask }, context) => {
    const { row, next } = records.change(context, role, updateMask);
    demandHeld(context, [...capabilitiesOfRole(row), ...next.capabilities], row.parent as string);
    return records.update(context, row.uid, withoutRepeats(next));
  },

  DeleteRole: ({ uid }, context) => {
    records.row(context, uid);
    const violations = useViolations(context.store, uid);
    if (violations.length > 0) throw failedPrecondition(violations);
    return records.deleteIfThere({ uid }, context);
  },
} satisfies ServiceMethods;

const withoutRepeats = (role: Role): Role => ({ ...role, capabilities: [...new Set(role.capabilities)] });

// An invite does not keep its role: it shows none once the role is deleted (docs/internals/contract.md#group-invites).
const USES = [
  ["role_bindings WHERE role_uid", "cannot delete role that is bound"],
  ["identity_providers WHERE default_role", "cannot delete role that is the default of an identity provider"],
  ["external_group_role_mappings WHERE role_uid", "cannot delete role that an external group is mapped to"],
] as const;

export const useViolations = (store: Store, uid: string): PreconditionViolation[] =>
  USES.flatMap(([where, description]) =>
    store.statement(`SELECT 1 FROM ${where} = ? LIMIT 1`).get(uid) ? [{ type: "RESOURCE_IN_USE", description }] : [],
  );

/**
 * A role that may be granted at a group is built-in, of the group, or of one above. The editors of a role from below or beside
 * could change what it grants here.
 */
export const roleViolations = (
  context: ServiceContext,
  group: string,
  uid: string,
  field: string,
): FieldViolation[] => {
  const reachable = context.original || isRoot(uid) || isAncestorOrSelf(parentOf(uid), group);
  if (reachable && context.store.get(shapes.role, uid)) return [];
  return [{ field, description: `role ${uid} does not exist at ${group} or above` }];
};

/** A caller who grants a role, now or later, holds all its capabilities (docs/internals/contract.md#d21). */
export const demandRole = (context: ServiceContext, group: string, uid: string): void => {
  const role = context.store.get(shapes.role, uid);
  if (role) demandHeld(context, capabilitiesOfRole(role), group);
};

/** Anti-escalation (docs/internals/contract.md#d21): who gives capabilities to others holds them. */
export const demandHeld = (context: ServiceContext, capabilities: Iterable<string>, group: string): void => {
  if (!context.withoutAntiEscalation && !context.caller.operates) demand(context.caller, capabilities, group);
};

// The roles that exist from the start, readable by all (docs/internals/contract.md#built-in-roles). The uid of `viewer` is the published
// one; the others differ between environments and are fixed here. A copy of another service contains the roles of that service.

/** uid of a built-in role: one segment, fixed. */
export const builtInRoleUid = (name: string): string =>
  name === "viewer"
    ? "63921b2c44617e3f2603851537be0123af4a57d7"
    : createHash("sha256").update(`built-in role ${name}`).digest("hex").slice(0, 40);

/** Enum names of capabilities. Each of the names is known: `roleProblems` (seed/roles.ts) reports unknown ones. */
export const enumNames = (names: readonly string[]): string[] => names.map((one) => capabilityFrom(one) as string);

/** Writes missing built-in roles into the store, and updates those with another bundle. */
export const ensureBuiltInRoles = (store: Store, bundles: RoleBundles, now: number): void =>
  store.transaction(() => {
    for (const [name, capabilities] of Object.entries(bundles)) {
      const uid = builtInRoleUid(name);
      const body = { name, description: `Built-in role: ${name}`, capabilities: enumNames(capabilities) };
      const stored = store.get(shapes.role, uid);
      if (!stored) store.insert(shapes.role, { uid, createTime: now, updateTime: now, body });
      else if (JSON.stringify(stored.body) !== JSON.stringify(body))
        store.update(shapes.role, { uid, updateTime: now, body });
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
