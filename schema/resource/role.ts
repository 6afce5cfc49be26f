// Role: a named set of capabilities. Built-in ones live at the root and are readable by all; custom ones live in a group.
import { z } from "zod";
import { capabilities as allCapabilities, Capability, capabilityName, isInternalOnly } from "../capability.ts";
import { message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { createRequest, getRequest, updateRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { description, name } from "../text.ts";
import { uidp } from "../uidp.ts";

const CAPABILITIES_TEXT = "must have at least one capability";

const capabilities = z
  .array(
    Capability.refine((value) => value !== "UNKNOWN", "must be a capability, not UNKNOWN"),
    { error: CAPABILITIES_TEXT },
  )
  .min(1, CAPABILITIES_TEXT);

/** A role with an internal-only capability must hold `internal`, too (docs/contract.md#authorization). */
const internalRule = ({ capabilities }: Readonly<Record<string, unknown>>) => {
  if (!Array.isArray(capabilities) || capabilities.includes("CAP_INTERNAL")) return [];
  const needing = capabilities.filter(isInternalOnly).map(capabilityName).join(", ");
  if (needing === "") return [];
  return [{ field: "capabilities", description: `must contain internal, since it contains ${needing}` }];
};

const friendlyNames = Object.fromEntries(allCapabilities.map(({ name, enum: enumName }) => [name, enumName]));

export const Role = message(
  "iam.Role",
  {
    uid: output(1, uidp, { text: "Built-in: one segment; custom: uid of its group, then a segment of its own" }),
    name: required(2, name, { text: "Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique" }),
    description: optional(3, description, { text: "One line, at most 512 characters; default: empty", always: true }),
    capabilities: required(4, capabilities, {
      text: "What the role grants, by enum name: `CAP_IAM_GROUPS_LIST`; the order means nothing",
      argumentText:
        "What the role grants, at least one: `groups.list` or `CAP_IAM_GROUPS_LIST`; order and duplicates mean nothing",
      list: "set",
      synonyms: friendlyNames,
    }),
    createTime: output(5, timestamp, { text: "When it was created: RFC 3339, UTC" }),
    updateTime: output(6, timestamp, { text: "When it was last changed: RFC 3339, UTC" }),
  },
  { rules: internalRule },
);
export type Role = z.infer<typeof Role>;

const roleOperations = rows("iam.RolesService", "/iam/{version}", {
  // Unscoped: built-in roles are readable by all; the service checks custom ones (docs/contract.md#authorization).
  GetRole: {
    http: "GET /roles/{uid=**}",
    request: getRequest("iam.GetRoleRequest"),
    response: Role,
    capabilities: ["roles.list"],
  },
  ListRoles: {
    http: "GET /roles",
    request: listRequest(
      "iam.ListRolesRequest",
      {
        name: plain(2, string, { text: "The whole name" }),
      },
      3,
    ),
    response: listResponse("iam.ListRolesResponse", "roles", Role),
    capabilities: ["roles.list"],
  },
  CreateRole: {
    http: "POST /roles/{parent=**}",
    body: "role",
    request: createRequest("iam.CreateRoleRequest", "role", Role),
    response: Role,
    capabilities: ["roles.create"],
    scope: "parent",
  },
  UpdateRole: {
    http: "PATCH /roles/{role.uid=**}",
    body: "role",
    request: updateRequest("iam.UpdateRoleRequest", "role", Role),
    response: Role,
    capabilities: ["roles.update"],
    scope: "role.uid",
  },
  DeleteRole: {
    http: "DELETE /roles/{uid=**}",
    request: getRequest("iam.DeleteRoleRequest"),
    response: Empty,
    capabilities: ["roles.delete"],
    scope: "uid",
  },
}) satisfies Operations;

export const role = resource("Role", roleOperations, {
  texts: {
    about: "a set of capabilities, defined in a group and granted by role bindings there and below.",
    example: `const reader = new Role("reader", { parent: platform, name: "reader", capabilities: ["groups.list", "repo.list"] });`,
    parent: {
      argument: "The group that defines the role: a Group or a uid",
      output: "uid of the group that defines the role",
    },
    allowReplace: "Allows a change of parent to create a new role with a new uid; default: refused in the preview",
    lookUp: {
      by: "name",
      text: "The role of that name in `parent`; without one, the built-in role of that name: `viewer`, `editor`, `owner`.",
    },
    list: "Roles that the caller may read; `uidp: { inRoot: true }` for the built-in ones only.",
  },
  schema: Role,
  replacementBreaks: "its uid would change: role bindings that name it keep the old role from being deleted",
});
