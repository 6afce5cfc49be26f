// ExternalGroupRoleMapping: grants a role at the organization to the people whose sign-in names a group of their identity provider. A mapping
// never changes.
import { z } from "zod";
import { message, output, plain, required, string, timestamp } from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { nonEmpty } from "../text.ts";
import { uidp } from "../uidp.ts";

const EXTERNAL_GROUP_ID_MAX = 1024;

export const ExternalGroupRoleMapping = message("iam.ExternalGroupRoleMapping", {
  uid: output(1, uidp, "uid of its identity provider, then a segment of its own"),
  identityProviderUid: output(2, uidp, "uid of its identity provider"),
  externalGroupId: required(
    3,
    nonEmpty.max(EXTERNAL_GROUP_ID_MAX, `must be at most ${EXTERNAL_GROUP_ID_MAX} characters`),
    "The external group: a value of the provider's `groupsClaim`, byte for byte, at most 1024 characters",
  ),
  roleUid: required(4, uidp, "uid of the role that the group's people get", {
    argumentText:
      "The role that the group's people get: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a uid",
    argument: "role",
    references: "Role",
  }),
  scope: required(5, uidp, "uid of the organization where they get the role", {
    argumentText: "The organization where they get the role: a Group or a uid",
    references: "Group",
  }),
  createTime: output(6, timestamp, "When it was created: RFC 3339, UTC"),
});
export type ExternalGroupRoleMapping = z.infer<typeof ExternalGroupRoleMapping>;

const standard = standardMethods(ExternalGroupRoleMapping, "externalGroupRoleMapping", "externalGroupRoleMappings");
const externalGroupRoleMappingOperations = rows("iam.ExternalGroupRoleMappingsService", "/iam/{version}", {
  GetExternalGroupRoleMapping: standard.get("identity_providers.list"),
  CreateExternalGroupRoleMapping: standard.create("identity_providers.create", "role_bindings.create"),
  DeleteExternalGroupRoleMapping: standard.delete("identity_providers.delete"),
  BatchDeleteExternalGroupRoleMappings: {
    http: "POST /externalGroupRoleMappings:batchDelete",
    body: "*",
    request: message("iam.BatchDeleteExternalGroupRoleMappingsRequest", {
      parent: required(1, uidp, "uid of the identity provider that holds all of them"),
      names: required(
        2,
        z.array(uidp, { error: "is required" }).min(1, "is required"),
        "uids of the mappings, at least one: all are deleted, or none",
      ),
    }),
    response: message("iam.BatchDeleteExternalGroupRoleMappingsResponse", {
      parent: plain(1, string, "uid of the identity provider"),
      externalGroupRoleMappings: plain(2, z.array(ExternalGroupRoleMapping), "What was deleted", { always: true }),
    }),
    capabilities: ["identity_providers.delete"],
    scope: "parent",
  },
  ListExternalGroupRoleMappings: standard.list(
    "identity_providers.list",
    { identityProviderUid: plain(2, string, "uid of an identity provider") },
    3,
  ),
});

export const externalGroupRoleMapping = resource("ExternalGroupRoleMapping", externalGroupRoleMappingOperations, {
  schema: ExternalGroupRoleMapping,
  parent: "IdentityProvider",
  matchedBy: ["externalGroupId", "roleUid", "scope"],
  unique: ["externalGroupId", "roleUid", "scope"],
  texts: {
    about: "grants a role at the organization to the people whose sign-in names a group of their identity provider.",
    parent: {
      argument:
        "The identity provider where the people sign in: an IdentityProvider or a uid; a change creates a new mapping before the old one is deleted",
      output: "uid of the identity provider where the people sign in",
    },
    allowReplace: "Accepted as on every resource; a mapping may always be replaced; default: false",
    lookUp: { by: "uid", text: "The mapping with this uid." },
    list: "Mappings of external groups that the caller may read; `identityProviderUid` selects one identity provider.",
  },
});
