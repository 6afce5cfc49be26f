// RoleBindingSet: all role bindings of one group as one resource of a program. It is no record of the API, but its arguments and its
// outputs are messages like any other.
import { z } from "zod";
import { bool, int32, message, optional, output, required, string, timestamp } from "./field.ts";
import { uidp } from "./uidp.ts";

/** A record that another one refers to, in the outputs of a resource. */
export const BoundRecord = message(
  "set.BoundRecord",
  {
    uid: output(1, string, { text: "uid of the record" }),
    name: output(2, string.optional(), {
      text: "Its name as of the last create, update or refresh; left out where it may be secret",
    }),
  },
  { text: "A record that another one refers to" },
);

const RoleBindingPair = message(
  "set.RoleBindingPair",
  {
    identity: required(1, uidp, {
      text: "uid of the identity that is granted the role",
      argumentText: "Who is granted the role: an Identity or a uid",
      references: "Identity",
    }),
    role: required(2, uidp, {
      text: "uid of the role that is granted",
      argumentText: "What is granted: the name of a built-in role (`viewer`, `editor`, `owner`), a Role, or a uid",
      references: "Role",
    }),
  },
  { argumentType: "RoleBindingPair", text: "Who has which role" },
);

const bound = {
  uid: output(1, string, { text: "uid of the role binding" }),
  identity: output(2, BoundRecord, { text: "Who is granted the role" }),
  role: output(3, BoundRecord, { text: "What is granted" }),
};
const SetBinding = message("set.SetBinding", bound, { text: "A role binding of the set's group" });
const UnmanagedBinding = message(
  "set.UnmanagedBinding",
  { ...bound, kept: output(4, string.optional(), { text: "Why an exclusive set never removes it" }) },
  { text: "A role binding that the set does not declare" },
);

const listOf = <T extends z.ZodType>(item: T) => z.array(item);

export const roleBindingSet = {
  type: "RoleBindingSet",
  about: "all role bindings of one group as one resource, so that thousands of them are few resources to the engine.",
  example: `new RoleBindingSet("platform", {
  parent: platform,
  bindings: [
    { identity: ci, role: "editor" },
    { identity: audit, role: "viewer" },
  ],
});`,
  arguments: message("set.RoleBindingSetArgs", {
    parent: required(1, uidp, {
      text: "The group where the grants hold, and below: a Group or a uid; a change creates the new set before the old one ends",
      references: "Group",
      createOnly: true,
    }),
    bindings: required(2, listOf(RoleBindingPair), {
      text: "Who has which role there; the order means nothing",
      list: "set",
    }),
    exclusive: optional(3, bool, {
      text:
        "Removes the bindings of the group that this set does not declare: those that the last run or refresh has recorded in `unmanaged`, " +
        "so that a preview shows them first. Default: they stay",
    }),
    maxRemovals: optional(4, int32, {
      text: "Most bindings that a run of an exclusive set removes; more are an error and nothing is removed; default: 20",
    }),
  }),
  outputs: message("set.RoleBindingSet", {
    parent: output(1, string, { text: "uid of the group where the grants hold, and below" }),
    bindings: output(2, listOf(SetBinding), {
      text: "The role bindings that the set manages, in the order of the program",
    }),
    unmanaged: output(3, listOf(UnmanagedBinding), {
      text: "The other role bindings of the group, as of the last update or refresh",
    }),
    exclusive: output(4, bool, { text: "Whether bindings that the set does not declare are removed" }),
    maxRemovals: output(5, int32, { text: "Most bindings that a run removes" }),
    updateTime: output(6, timestamp.optional(), {
      text: "When the newest of its role bindings was created: RFC 3339, UTC; undefined while there are none",
    }),
  }),
} as const;
