// External groups of identity providers. Their members get a role at the organization when they sign in, so mapping a group takes
// what binding that role there takes (docs/internals/contract.md#d21).
import {
  alreadyExists,
  type ExternalGroupRoleMapping,
  inputViolations,
  operations,
  parentOf,
  rootOf,
} from "../../schema/index.ts";
import { demand } from "../caller/caller.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { existing, recordFrom, recordsOf, throwIfAny, uidIn } from "./record.ts";
import { capabilitiesOfRole, demandRole, roleViolations } from "./role.ts";

const mappingFrom = (row: Row): ExternalGroupRoleMapping => ({
  ...recordFrom<ExternalGroupRoleMapping>(row),
  identityProviderUid: row.parent as string,
});

const records = recordsOf("externalGroupRoleMapping", mappingFrom);

export const externalGroupRoleMappingService = {
  GetExternalGroupRoleMapping: records.get,

  ListExternalGroupRoleMappings: records.list(({ identityProviderUid }) => equals({ parent: identityProviderUid })),

  CreateExternalGroupRoleMapping: ({ parent, externalGroupRoleMapping }, context) => {
    const input = records.input(context, externalGroupRoleMapping);
    const { externalGroupId, roleUid, scope } = input;
    existing(context, "identityProvider", parent);
    const organization = rootOf(parent);
    const isMisplaced = !context.original && scope !== organization;
    const description = `must be the organization of the identity provider, ${organization}`;
    throwIfAny([
      ...(isMisplaced ? [{ field: "scope", description }] : []),
      ...roleViolations(context, organization, roleUid, "roleUid"),
    ]);
    existing(context, "group", scope);
    // The identity provider may be in a group below, and the role is granted at the organization. The published contract says so itself
    // (docs/internals/contract.md#mapping-role), so this also holds without anti-escalation.
    const role = context.store.get(shapes.role, roleUid);
    demand(context.caller, ["role_bindings.create", ...(role ? capabilitiesOfRole(role) : [])], scope);
    throwIfMapped(context.store, parent, input);
    return records.insert(context, uidIn(context, parent), { externalGroupId, roleUid, scope });
  },

  DeleteExternalGroupRoleMapping: records.delete,

  // All or nothing, and mappings that are gone are skipped: a call that is repeated succeeds.
  BatchDeleteExternalGroupRoleMappings: ({ parent, names }, context) => {
    throwIfAny(inputViolations(operations.BatchDeleteExternalGroupRoleMappings.request, { parent, names }));
    existing(context, "identityProvider", parent);
    const description = "must be the uid of a mapping of the identity provider";
    throwIfAny(names.flatMap((name, i) => (parentOf(name) === parent ? [] : [{ field: `names[${i}]`, description }])));
    const found = [...new Set(names)].flatMap((uid) => context.store.get(shapes.externalGroupRoleMapping, uid) ?? []);
    for (const { uid } of found) context.store.remove(shapes.externalGroupRoleMapping, uid);
    return { parent, externalGroupRoleMappings: found.map(mappingFrom) };
  },
} satisfies ServiceMethods;

/** The grants to the external groups of an identity provider. */
export const demandMappedRoles = (context: ServiceContext, identityProvider: string): void => {
  const mapped = context.store.statement(
    "SELECT DISTINCT role_uid, scope FROM external_group_role_mappings WHERE parent = ?",
  );
  for (const { role_uid: role, scope } of mapped.all(identityProvider))
    demandRole(context, scope as string, role as string);
};

const throwIfMapped = (store: Store, parent: string, mapping: ExternalGroupRoleMapping) => {
  const { externalGroupId, roleUid, scope } = mapping;
  const mapped = store
    .statement(
      `SELECT uid FROM external_group_role_mappings
       WHERE parent = ? AND external_group_id = ? AND role_uid = ? AND scope = ?`,
    )
    .get(parent, externalGroupId, roleUid, scope);
  if (!mapped) return;
  const text = `the identity provider ${parent} maps this external group to role ${roleUid} at ${scope} already`;
  throw alreadyExists("ExternalGroupRoleMapping", mapped.uid as string, text);
};
