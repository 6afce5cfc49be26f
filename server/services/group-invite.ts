// Invites to a group. One is a promise of a role binding, so creating it takes what granting the role takes
// (docs/contract.md#d21). Only the response of the create has the code; its hash is stored.
import { createHash, randomBytes } from "node:crypto";
import { durationMs, GroupInvite } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { groupInvites, roles } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import { createInput, existing, existingParent, page, throwIfAny, timeText } from "./record.ts";
import { capabilitiesOfRole, demandRole, roleViolations } from "./role.ts";
import type { Services } from "./service.ts";

const groupInviteFrom = (store: Store, row: Row): GroupInvite => {
  const { role_uid: roleUid, key_id: keyId, expiration_time: expirationTime } = row.columns;
  const role = store.get(roles, roleUid as string);
  return {
    uid: row.uid,
    roleUid,
    ...(role && {
      role: {
        uid: role.uid,
        name: role.columns.name,
        description: role.body.description,
        capabilities: capabilitiesOfRole(role),
      },
    }),
    ...row.body,
    keyId,
    expirationTime: timeText(expirationTime as number),
    createTime: timeText(row.createTime),
  } as GroupInvite;
};

export const groupInviteService = {
  GetGroupInvite: ({ uid }, context) =>
    groupInviteFrom(context.store, existing(context, groupInvites, "GroupInvite", uid)),

  ListGroupInvites: (request, context) => {
    const filters = equals("key_id", request.keyId);
    return page(context, groupInvites, request, "groupInvites", filters, (row) => groupInviteFrom(context.store, row));
  },

  CreateGroupInvite: ({ parent, groupInvite }, context) => {
    const { roleUid, ttl, ...body } = createInput(GroupInvite, groupInvite) as GroupInvite;
    existingParent(context, parent);
    throwIfAny(roleViolations(context, parent, roleUid, "roleUid"));
    demandRole(context, parent, roleUid);
    const uid = `${parent}/${context.ids.segment()}`;
    const code = `cginvite_${randomBytes(32).toString("hex")}`;
    const hash = createHash("sha256").update(code).digest("hex");
    context.store.insert(groupInvites, {
      uid,
      createTime: context.now,
      updateTime: context.now,
      columns: {
        role_uid: roleUid,
        code_hash: hash,
        key_id: hash.slice(0, 16),
        expiration_time: context.now + durationMs(ttl),
      },
      body,
    });
    return { ...groupInviteFrom(context.store, existing(context, groupInvites, "GroupInvite", uid)), code };
  },

  DeleteGroupInvite: ({ uid }, context) => {
    existing(context, groupInvites, "GroupInvite", uid);
    context.store.remove(groupInvites, uid);
    return {};
  },
} satisfies Services<"GetGroupInvite" | "ListGroupInvites" | "CreateGroupInvite" | "DeleteGroupInvite">;
