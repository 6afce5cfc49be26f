// RoleBindingSet: all role bindings of one group as one resource of a program. The API has no such record, but the arguments and outputs
// of the set are messages like any other.
import { z } from "zod";
import { isRoleName } from "./built-in-role.ts";
import type { FieldViolation } from "./error.ts";
import { bool, int32, message, optional, output, required, string, timestamp } from "./field.ts";
import { isUidp, UIDP_TEXT, uidp } from "./uidp.ts";

/** A record that another one refers to, in the outputs of a resource. */
export const BoundRecord = message(
  "set.BoundRecord",
  {
    uid: output(1, string, "uid of the record"),
    name: output(2, string.optional(), "Its name as of the last create, update or refresh; absent if it may be secret"),
  },
  { text: "A record that another one refers to" },
);

const ROLE_TEXT = `${UIDP_TEXT}, or the name of a built-in role`;

/** uid of a role, or the name of a built-in one */
const role = z
  .string({ error: ({ input }) => (input === undefined ? "is required" : ROLE_TEXT) })
  .refine((value) => isUidp(value) || isRoleName(value), ROLE_TEXT);

const RoleBindingPair = message(
  "set.RoleBindingPair",
  {
    identity: required(1, uidp, "uid of the identity that is granted the role", {
      argumentText: "The identity that is granted the role: an Identity or a uid",
      references: "Identity",
    }),
    role: required(2, role, "uid of the role that is granted", {
      argumentText: "The role to grant: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a uid",
      references: "Role",
    }),
  },
  { argumentType: "RoleBindingPair", text: "Who has which role" },
);

const bound = {
  uid: output(1, string, "uid of the role binding"),
  identity: output(2, BoundRecord, "The identity that is granted the role"),
  role: output(3, BoundRecord, "The role that is granted"),
};
const SetBinding = message("set.SetBinding", bound, { text: "A role binding of the set's group" });
const UnmanagedBinding = message(
  "set.UnmanagedBinding",
  { ...bound, kept: output(4, string.optional(), "Why an exclusive set never removes it") },
  { text: "A role binding that the set does not declare" },
);

/** Violations for pairs that occur twice. Skips pairs that are unknown in a preview, or malformed. */
export const pairsTwice = (
  bindings: unknown,
  isUnknown: (value: unknown) => boolean = () => false,
): FieldViolation[] => {
  const first = new Map<string, number>();
  const pairs: readonly unknown[] = Array.isArray(bindings) ? bindings : [];
  return pairs.flatMap((pair, i) => {
    const { identity, role } = Object(pair) as Record<string, unknown>;
    const isKnown = isUidp(identity) && !isUnknown(role) && (isUidp(role) || isRoleName(role));
    if (!isKnown) return [];
    const mark = `${identity} ${role}`;
    const before = first.get(mark);
    if (before !== undefined)
      return [{ field: `bindings[${i}]`, description: `the same identity and role as bindings[${before}]` }];
    first.set(mark, i);
    return [];
  });
};

export const roleBindingSet = {
  type: "RoleBindingSet",
  about:
    "all role bindings of one group as one resource, so that the engine handles few resources instead of thousands.",
  errors:
    "the preview refuses a pair that occurs twice, and a group whose bindings another resource declares. The service refuses " +
    "with PERMISSION_DENIED a caller without `role_bindings.create`, or without the capabilities of a role that it grants.",
  arguments: message(
    "set.RoleBindingSetArgs",
    {
      parent: required(
        1,
        uidp,
        "The group that the grants cover, with everything below it: a Group or a uid; a change creates the new set before the old one is deleted",
        { references: "Group", createOnly: true },
      ),
      bindings: required(2, z.array(RoleBindingPair), "Who has which role there; the order does not matter", {
        list: "set",
      }),
      exclusive: optional(
        3,
        bool,
        "Removes bindings of the group that this set does not declare, if the last run or refresh recorded them in `unmanaged`. " +
          "So a preview shows them first. Default: they remain",
      ),
      maxRemovals: optional(
        4,
        int32.min(0, "must be a whole number of role bindings"),
        "The most role bindings that a run of an exclusive set may remove; if there are more, the run fails and removes nothing; default: 20",
      ),
    },
    { rules: ({ bindings }, isUnknown) => pairsTwice(bindings, isUnknown) },
  ),
  outputs: message("set.RoleBindingSet", {
    parent: output(1, string, "uid of the group that the grants cover, with everything below it"),
    bindings: output(2, z.array(SetBinding), "The role bindings that the set manages, in the order of the program"),
    unmanaged: output(
      3,
      z.array(UnmanagedBinding),
      "The other role bindings of the group, as of the last update or refresh",
    ),
    exclusive: output(4, bool, "Whether bindings that the set does not declare are removed"),
    maxRemovals: output(5, int32, "The most role bindings that a run may remove"),
    updateTime: output(
      6,
      timestamp.optional(),
      "When the newest of its role bindings was created: RFC 3339, UTC; undefined while there are none",
    ),
  }),
} as const;
