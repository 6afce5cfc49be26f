// RoleBinding: grants a role to an identity at a group and everything below it. Requests have uids; responses have the
// identity, the group and the role.
import { z } from "zod";
import { message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { uidp } from "../uidp.ts";

export const BATCH_MAX = 25;

export const RoleBinding = message("iam.RoleBinding", {
  uid: output(1, uidp, "uid of its group, then a segment of its own"),
  identity: output(
    2,
    message("iam.RoleBindingIdentity", {
      uid: output(1, string, "uid of the identity"),
      name: output(2, string, "Its name"),
      description: output(3, string, "Its description", { always: true }),
      subject: output(4, string.optional(), "`sub` of its claim match", { always: true }),
      issuer: output(5, string.optional(), "`iss` of its claim match", { always: true }),
      email: output(6, string.optional(), "Verified address of a person"),
    }),
    "The identity that is granted the role",
  ),
  group: output(
    3,
    message("iam.RoleBindingGroup", {
      uid: output(1, string, "uid of the group"),
      name: output(2, string, "Its name"),
      description: output(3, string, "Its description", { always: true }),
    }),
    "The group that the grant covers, with everything below it",
  ),
  role: output(
    4,
    message("iam.RoleBindingRole", {
      uid: output(1, string, "uid of the role"),
      name: output(2, string, "Its name"),
      description: output(3, string, "Its description", { always: true }),
    }),
    "The role that is granted",
  ),
  createTime: output(5, timestamp, "When it was created: RFC 3339, UTC"),
  identityUid: required(6, uidp, "uid of the identity that is granted the role", {
    argumentText: "The identity that is granted the role: an Identity or a uid",
    inputOnly: true,
    answeredAs: "identity.uid",
    references: "Identity",
  }),
  roleUid: required(7, uidp, "uid of the role that is granted", {
    argumentText: "The role to grant: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a uid",
    inputOnly: true,
    answeredAs: "role.uid",
    references: "Role",
  }),
});
export type RoleBinding = z.infer<typeof RoleBinding>;

// In a batch, each request may leave out the parent (AIP-233).
const batched = message("iam.CreateRoleBindingRequest", {
  parent: optional(1, string, "uid of the group; default: the batch's"),
  roleBinding: required(2, RoleBinding, "The role binding"),
});

const standard = standardMethods(RoleBinding, "roleBinding", "roleBindings");
const roleBindingOperations = rows("iam.RoleBindingsService", "/iam/{version}", {
  GetRoleBinding: standard.get("role_bindings.list"),
  CreateRoleBinding: standard.create("role_bindings.create"),
  DeleteRoleBinding: standard.delete("role_bindings.delete"),
  ListRoleBindings: standard.list(
    "role_bindings.list",
    {
      identity: plain(2, string, "uid of an identity"),
      group: plain(3, string, "uid of a group"),
      role: plain(4, string, "uid of a role"),
    },
    5,
  ),
  BatchCreateRoleBindings: {
    http: "POST /roleBindings:batchCreate",
    body: "*",
    request: message("iam.BatchCreateRoleBindingsRequest", {
      parent: required(1, uidp, "uid of the group that holds all of them"),
      requests: required(
        2,
        z
          .array(batched, { error: "is required" })
          .min(1, "is required")
          .max(BATCH_MAX, `must have at most ${BATCH_MAX} requests`),
        "At least one, at most 25: all are created, or none",
      ),
      roleUid: optional(3, string, "uid of a role, for each that names none"),
    }),
    response: message("iam.BatchCreateRoleBindingsResponse", {
      roleBindings: plain(1, z.array(RoleBinding), "The role bindings, in the order of the requests", { always: true }),
    }),
    capabilities: ["role_bindings.create"],
    scope: "parent",
  },
  UpdateRoleBinding: standard.update("role_bindings.update"),
});

export const roleBinding = resource("RoleBinding", roleBindingOperations, {
  texts: {
    about: "grants a role to an identity at a group and everything below it.",
    parent: {
      argument:
        "The group that the grant covers, with everything below it: a Group or a uid; a change creates a new binding before the old one is deleted",
      output: "uid of the group that the grant covers, with everything below it",
    },
    allowReplace: "Accepted as on every resource; a role binding may always be replaced; default: false",
    allowDuplicate:
      "Allows a second, equal role binding in a run without checkpoints (`PULUMI_SKIP_CHECKPOINTS`) if this stack did not create the first one. A run with checkpoints always creates it, and names the first one",
    list: "Role bindings that the caller may read; `role` is a uid or the name of a built-in role.",
  },
  schema: RoleBinding,
  matchedBy: ["identityUid", "roleUid"],
});
