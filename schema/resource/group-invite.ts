// GroupInvite: a code with which a person joins a group. The code is shown once.
import { z } from "zod";
import { Capability } from "../capability.ts";
import { bool, duration, message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { uidp } from "../uidp.ts";

const TTL_MAX_S = 10 * 365 * 24 * 60 * 60;
const TTL_TEXT = `must be more than 0s and at most ${TTL_MAX_S}s`;

/** Milliseconds of a duration in JSON. */
export const durationMs = (text: string): number => Math.round(Number.parseFloat(text) * 1000);

const ttl = duration.refine((text) => durationMs(text) > 0 && durationMs(text) <= TTL_MAX_S * 1000, TTL_TEXT);

export const GroupInvite = message("iam.GroupInvite", {
  uid: output(1, uidp, "uid of its group, then a segment of its own"),
  roleUid: required(2, uidp, "uid of the role that is granted at the group", {
    argumentText:
      "The role to grant at the group: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a uid",
    references: "Role",
    answeredAs: "role.uid",
  }),
  role: output(
    10,
    message("iam.GroupInviteRole", {
      uid: output(1, string, "uid of the role"),
      name: output(2, string, "Its name"),
      description: output(3, string.optional(), "Its description"),
      capabilities: output(4, z.array(Capability).optional(), "What it grants, by enum name"),
    }).optional(),
    "The role that is granted; absent if it was deleted",
    { outputText: "The role that is granted, with its name if it is built-in" },
  ),
  email: optional(
    3,
    string.refine(
      (text) => text === "" || (text.length <= 254 && z.email().safeParse(text).success),
      "must be an e-mail address of at most 254 characters",
    ),
    "Address of the person who may accept the invite; default: anyone with the code",
  ),
  ttl: required(
    4,
    ttl,
    "How long the code is valid after its creation: seconds, such as `604800s` (a week), at most ten years",
    { inputOnly: true },
  ),
  expirationTime: output(5, timestamp, "When the code expires: RFC 3339, UTC"),
  singleUse: optional(6, bool, "Only one person can accept the invite; default: false"),
  code: output(7, string.optional(), "Secret; only the create returns it", {
    outputText:
      "Secret. The service shows it once, so the state stores it; undefined if the invite was adopted or read by its uid",
    secret: true,
  }),
  keyId: output(8, string, "The first 16 digits of the SHA-256 of the code"),
  createTime: output(9, timestamp, "When it was created: RFC 3339, UTC"),
});
export type GroupInvite = z.infer<typeof GroupInvite>;

const standard = standardMethods(GroupInvite, "groupInvite", "groupInvites");
const groupInviteOperations = rows("iam.GroupInvitesService", "/iam/{version}", {
  CreateGroupInvite: standard.create("group_invites.create", "role_bindings.create"),
  GetGroupInvite: standard.get("group_invites.list"),
  DeleteGroupInvite: standard.delete("group_invites.delete"),
  ListGroupInvites: standard.list(
    "group_invites.list",
    { keyId: plain(2, string, "The first 16 digits of the SHA-256 of the code") },
    3,
  ),
});

export const groupInvite = resource("GroupInvite", groupInviteOperations, {
  texts: {
    about:
      "a code that lets a person without an identity join a group, with a role. Any change creates a new invite with a new code, and then deletes the old one.",
    parent: {
      argument: "The group to join: a Group or a uid",
      output: "uid of the group to join",
    },
    allowReplace: "Accepted as on every resource; an invite may always be replaced; default: false",
    lookUp: { by: "uid", text: "The invite with this uid, without its code." },
    list: "Group invites that the caller may read, without their codes.",
  },
  schema: GroupInvite,
  matchedBy: ["roleUid", "email"],
});
