// RoleBinding: grants a role to an identity at a group and everything below it. Requests carry uids; responses
// carry the identity, the group and the role.
import { z } from "zod";
import { message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { createRequest, getRequest, updateRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { uidp } from "../uidp.ts";

export const BATCH_MAX = 25;

export const RoleBinding = message("iam.RoleBinding", {
  /** uid of its group, then a segment of its own */
  uid: output(1, uidp),
  identity: output(
    2,
    message("iam.RoleBindingIdentity", {
      /** uid of the identity */
      uid: output(1, string),
      /** its name */
      name: output(2, string),
      /** its description */
      description: output(3, string, { always: true }),
      /** `sub` of its claim match */
      subject: output(4, string.optional(), { always: true }),
      /** `iss` of its claim match */
      issuer: output(5, string.optional(), { always: true }),
      /** verified address of a person */
      email: output(6, string.optional()),
    }),
  ),
  group: output(
    3,
    message("iam.RoleBindingGroup", {
      /** uid of the group */
      uid: output(1, string),
      /** its name */
      name: output(2, string),
      /** its description */
      description: output(3, string, { always: true }),
    }),
  ),
  role: output(
    4,
    message("iam.RoleBindingRole", {
      /** uid of the role */
      uid: output(1, string),
      /** its name */
      name: output(2, string),
      /** its description */
      description: output(3, string, { always: true }),
    }),
  ),
  createTime: output(5, timestamp),
  /** uid of the identity that is granted the role */
  identityUid: required(6, uidp, { inputOnly: true, answeredAs: "identity.uid", references: "Identity" }),
  /** uid of the role */
  roleUid: required(7, uidp, { inputOnly: true, answeredAs: "role.uid", references: "Role" }),
});
export type RoleBinding = z.infer<typeof RoleBinding>;

const CreateRoleBindingRequest = createRequest("iam.CreateRoleBindingRequest", "roleBinding", RoleBinding);

// In a batch, each request may leave out the parent (AIP-233).
const batched = message("iam.CreateRoleBindingRequest", {
  parent: optional(1, string),
  roleBinding: required(2, RoleBinding),
});

const roleBindingOperations = rows("iam.RoleBindingsService", "/iam/{version}", {
  GetRoleBinding: {
    http: "GET /roleBindings/{uid=**}",
    request: getRequest("iam.GetRoleBindingRequest"),
    response: RoleBinding,
    capabilities: ["role_bindings.list"],
    scope: "uid",
  },
  CreateRoleBinding: {
    http: "POST /roleBindings/{parent=**}",
    body: "roleBinding",
    request: CreateRoleBindingRequest,
    response: RoleBinding,
    capabilities: ["role_bindings.create"],
    scope: "parent",
  },
  DeleteRoleBinding: {
    http: "DELETE /roleBindings/{uid=**}",
    request: getRequest("iam.DeleteRoleBindingRequest"),
    response: Empty,
    capabilities: ["role_bindings.delete"],
    scope: "uid",
  },
  ListRoleBindings: {
    http: "GET /roleBindings",
    request: listRequest(
      "iam.ListRoleBindingsRequest",
      {
        /** uid of an identity */
        identity: plain(2, string),
        /** uid of a group */
        group: plain(3, string),
        /** uid of a role */
        role: plain(4, string),
      },
      5,
    ),
    response: listResponse("iam.ListRoleBindingsResponse", "roleBindings", RoleBinding),
    capabilities: ["role_bindings.list"],
  },
  BatchCreateRoleBindings: {
    http: "POST /roleBindings:batchCreate",
    body: "*",
    request: message("iam.BatchCreateRoleBindingsRequest", {
      parent: required(1, uidp),
      requests: required(
        2,
        z
          .array(batched, { error: "is required" })
          .min(1, "is required")
          .max(BATCH_MAX, `must have at most ${BATCH_MAX} requests`),
      ),
      roleUid: optional(3, string),
    }),
    response: message("iam.BatchCreateRoleBindingsResponse", {
      roleBindings: plain(1, z.array(RoleBinding), { always: true }),
    }),
    capabilities: ["role_bindings.create"],
    scope: "parent",
  },
  UpdateRoleBinding: {
    http: "PATCH /roleBindings/{roleBinding.uid=**}",
    body: "roleBinding",
    request: updateRequest("iam.UpdateRoleBindingRequest", "roleBinding", RoleBinding),
    response: RoleBinding,
    capabilities: ["role_bindings.update"],
    scope: "roleBinding.uid",
  },
}) satisfies Operations;

export const roleBinding = resource("RoleBinding", roleBindingOperations, {
  schema: RoleBinding,
  matchedBy: ["identityUid", "roleUid"],
});
