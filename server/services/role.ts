// Roles: sets of capabilities. Nobody grants what they do not hold (decision 21); built-in roles are read-only.
import {
  capabilityName,
  type FieldViolation,
  failedPrecondition,
  isInternalOnly,
  isRoot,
  type Json,
  Role,
} from "../../schema/index.ts";
import { demand } from "../authorize.ts";
import type { ServiceContext } from "../context.ts";
import type { Services } from "../service.ts";
import { equals } from "../store/list.ts";
import { groups, roles } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import { changeInput, createInput, existing, existingParent, page, times } from "./record.ts";

const roleFrom = (row: Row): Role => ({
  uid: row.uid,
  name: row.columns.name as string,
  description: "",
  capabilities: [],
  ...row.body,
  ...times(row),
});

export const capabilitiesOfRole = (row: Row): string[] => (row.body.capabilities as string[] | undefined) ?? [];

export const roleService = {
  // Unscoped: a built-in role is readable by all, a custom one by those who may list roles at its group.
  GetRole: ({ uid }, context) => {
    if (!isRoot(uid)) demand(context.caller, ["roles.list"], uid);
    return roleFrom(existing(context, roles, "Role", uid));
  },

  ListRoles: (request, context) => {
    const { items, ...envelope } = page(
      context,
      roles,
      request,
      ["roles.list"],
      equals("name", request.name),
      roleFrom,
      true,
    );
    return { roles: items, ...envelope };
  },

  CreateRole: ({ parent, role }, context) => {
    const { name, ...body } = createInput(Role, role, internalViolations(role)) as Role;
    const unique = { ...body, capabilities: [...new Set(body.capabilities)] };
    existingParent(context, groups, parent);
    demand(context.caller, unique.capabilities, parent);
    const uid = `${parent}/${context.ids.segment()}`;
    insertRole(context.store, uid, { name, ...unique }, context.now);
    return roleFrom(existing(context, roles, "Role", uid));
  },

  UpdateRole: ({ role, updateMask }, context) => {
    const row = existing(context, roles, "Role", role.uid);
    const current = { name: row.columns.name, ...row.body };
    const { next } = changeInput(Role, current, role, updateMask, internalViolations);
    const { name, ...body } = next as Role;
    const unique = { ...body, capabilities: [...new Set(body.capabilities)] };
    demand(context.caller, [...capabilitiesOfRole(row), ...unique.capabilities], row.parent as string);
    context.store.update(roles, { uid: row.uid, updateTime: context.now, columns: { name }, body: unique });
    return roleFrom(existing(context, roles, "Role", row.uid));
  },

  DeleteRole: ({ uid }, context) => {
    context.store.transaction(() => {
      existing(context, roles, "Role", uid);
      if (isBound(context, uid)) {
        const description = "cannot delete role that is bound";
        throw failedPrecondition([{ type: "RESOURCE_IN_USE", description }]);
      }
      context.store.remove(roles, uid);
    });
    return {};
  },
} satisfies Services<"GetRole" | "ListRoles" | "CreateRole" | "UpdateRole" | "DeleteRole">;

export const insertRole = (store: Store, uid: string, { name, ...body }: Json, now: number): void =>
  store.insert(roles, { uid, createTime: now, updateTime: now, columns: { name: name as string }, body });

const isBound = (context: ServiceContext, uid: string): boolean =>
  context.store.statement("SELECT 1 FROM role_bindings WHERE role_uid = ? LIMIT 1").get(uid) !== undefined;

// A role with an internal-only capability must hold `internal` too (contract 1.10).
export const internalViolations = (role: Json): FieldViolation[] => {
  const own = (role.capabilities as string[] | undefined) ?? [];
  const needing = own.filter(isInternalOnly);
  if (needing.length === 0 || own.includes("CAP_INTERNAL")) return [];
  const names = needing.map(capabilityName).join(", ");
  return [{ field: "capabilities", description: `must contain internal, since it contains ${names}` }];
};
