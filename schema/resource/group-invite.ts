// GroupInvite: a code with which a person joins a group. The code is shown once.
import { z } from "zod";
import { Capability } from "../capability.ts";
import { bool, duration, message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { createRequest, getRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { uidp } from "../uidp.ts";

const TTL_MAX_S = 10 * 365 * 24 * 60 * 60;
const TTL_TEXT = `must be more than 0s and at most ${TTL_MAX_S}s`;
const EMAIL_TEXT = "must be an e-mail address of at most 254 characters";
const isEmptyOrEmail = (text: string) => text === "" || (text.length <= 254 && z.email().safeParse(text).success);

/** Milliseconds of a duration as JSON has it. */
export const durationMs = (text: string): number => Math.round(Number.parseFloat(text) * 1000);

const ttl = duration.refine((text) => durationMs(text) > 0 && durationMs(text) <= TTL_MAX_S * 1000, TTL_TEXT);

export const GroupInvite = message("iam.GroupInvite", {
  /** uid of its group, then a segment of its own */
  uid: output(1, uidp),
  /** uid of the role that is granted at the group */
  roleUid: required(2, uidp, { references: "Role", answeredAs: "role.uid" }),
  /** absent when the role was deleted */
  role: output(
    10,
    message("iam.GroupInviteRole", {
      /** uid of the role */
      uid: output(1, string),
      /** its name */
      name: output(2, string),
      /** its description */
      description: output(3, string.optional()),
      /** what it grants, by enum name */
      capabilities: output(4, z.array(Capability).optional()),
    }).optional(),
  ),
  /** who may accept it; absent = anyone with the code */
  email: optional(3, string.refine(isEmptyOrEmail, EMAIL_TEXT)),
  /** set on create, not returned */
  ttl: required(4, ttl, { inputOnly: true }),
  expirationTime: output(5, timestamp),
  singleUse: optional(6, bool),
  /** returned by the create only */
  code: output(7, string.optional(), { secret: true }),
  /** the first 16 digits of the SHA-256 of the code */
  keyId: output(8, string),
  createTime: output(9, timestamp),
});
export type GroupInvite = z.infer<typeof GroupInvite>;

const groupInviteOperations = rows("iam.GroupInvitesService", "/iam/{version}", {
  CreateGroupInvite: {
    http: "POST /groupInvites/{parent=**}",
    body: "groupInvite",
    request: createRequest("iam.CreateGroupInviteRequest", "groupInvite", GroupInvite),
    response: GroupInvite,
    capabilities: ["group_invites.create", "role_bindings.create"],
    scope: "parent",
  },
  GetGroupInvite: {
    http: "GET /groupInvites/{uid=**}",
    request: getRequest("iam.GetGroupInviteRequest"),
    response: GroupInvite,
    capabilities: ["group_invites.list"],
    scope: "uid",
  },
  DeleteGroupInvite: {
    http: "DELETE /groupInvites/{uid=**}",
    request: getRequest("iam.DeleteGroupInviteRequest"),
    response: Empty,
    capabilities: ["group_invites.delete"],
    scope: "uid",
  },
  ListGroupInvites: {
    http: "GET /groupInvites",
    request: listRequest(
      "iam.ListGroupInvitesRequest",
      {
        /** the first 16 digits of the SHA-256 of the code */
        keyId: plain(2, string),
      },
      3,
    ),
    response: listResponse("iam.ListGroupInvitesResponse", "groupInvites", GroupInvite),
    capabilities: ["group_invites.list"],
  },
}) satisfies Operations;

export const groupInvite = resource("GroupInvite", groupInviteOperations, {
  schema: GroupInvite,
  matchedBy: ["roleUid", "email"],
});
