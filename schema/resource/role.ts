// Role: a named set of capabilities. Built-in ones live at the root and are readable by all; custom ones live in a group.
import { z } from "zod";
import { capabilities as allCapabilities, Capability, capabilityName, isInternalOnly } from "../capability.ts";
import { message, optional, output, plain, recordTimes, required, string } from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
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

const friendlyNames = Object.fromEntries(allCapabilities.map(({ name, enum: enumName }) => [name, enumName]));

export const Role = message(
  "iam.Role",
  {
    uid: output(1, uidp, "Built-in: one segment; custom: uid of its group, then a segment of its own"),
    name: required(2, name, "Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique"),
    description: optional(3, description, "One line, at most 512 characters; default: empty", { always: true }),
    capabilities: required(
      4,
      capabilities,
      "What the role grants, by enum name: `CAP_IAM_GROUPS_LIST`; the order does not matter",
      {
        argumentText:
          "What the role grants, at least one capability: `groups.list` or `CAP_IAM_GROUPS_LIST`; order and duplicates do not matter",
        list: "set",
        synonyms: friendlyNames,
      },
    ),
    ...recordTimes(5),
  },
  {
    // A role with an internal-only capability must also hold `internal` (docs/internals/contract.md#authorization).
    rules: ({ capabilities }) => {
      if (!Array.isArray(capabilities) || capabilities.includes("CAP_INTERNAL")) return [];
      const needing = capabilities.filter(isInternalOnly).map(capabilityName).join(", ");
      if (needing === "") return [];
      return [{ field: "capabilities", description: `must contain internal, since it contains ${needing}` }];
    },
  },
);
export type Role = z.infer<typeof Role>;

const standard = standardMethods(Role, "role", "roles");
const roleOperations = rows("iam.RolesService", "/iam/{version}", {
  // Unscoped: built-in roles are readable by all; the service checks custom ones (docs/internals/contract.md#authorization).
  GetRole: { ...standard.get("roles.list"), scope: undefined },
  ListRoles: standard.list("roles.list", { name: plain(2, string, "The whole name") }, 3),
  CreateRole: standard.create("roles.create"),
  UpdateRole: standard.update("roles.update"),
  DeleteRole: standard.delete("roles.delete"),
});

export const role = resource("Role", roleOperations, {
  texts: {
    about: "a set of capabilities, defined in a group and granted by role bindings there and below.",
    parent: {
      argument: "The group that defines the role: a Group or a uid",
      output: "uid of the group that defines the role",
    },
    allowReplace: "Allows a change of parent to create a new role with a new uid; default: refused in the preview",
    allowDuplicate:
      "Creates the role although one with the same parent and fields exists that this stack did not create; default: the update refuses it",
    lookUp: {
      by: "name",
      text: "The role of that name in `parent`; without one, the built-in role of that name: `viewer`, `editor`, `owner`.",
    },
    list: "Roles that the caller may read; with `uidp.inRoot`, the built-in ones only.",
  },
  schema: Role,
  replacementBreaks: "its uid would change, and role bindings that name the old role would prevent its deletion",
});
