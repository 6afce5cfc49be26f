// Invites to a group. One is a promise of a role binding, so creating it takes what granting the role takes
// (docs/contract.md#d21). Only the response of the create has the code; its hash is stored.
import { createHash, randomBytes } from "node:crypto";
import { durationMs, GroupInvite } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { createInput, existingParent, newTimes, recordsOf, throwIfAny, timeText, uidIn } from "./record.ts";
import { capabilitiesOfRole, demandRole, roleViolations } from "./role.ts";

const groupInviteFrom = (row: Row, store: Store): GroupInvite => {
  const { role_uid: roleUid, key_id: keyId, expiration_time: expirationTime } = row.columns;
  const role = store.get(shapes.role, roleUid as string);
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

const records = recordsOf(shapes.groupInvite, "GroupInvite", "groupInvites", groupInviteFrom);

export const groupInviteService = {
  GetGroupInvite: records.get,

  ListGroupInvites: (request, context) => records.list(context, request, equals({ key_id: request.keyId })),

  CreateGroupInvite: ({ parent, groupInvite }, context) => {
    const { roleUid, ttl, ...body } = createInput(context, GroupInvite, groupInvite) as GroupInvite;
    existingParent(context, parent);
    if (context.original) return copyInvite(context, roleUid, body);
    throwIfAny(roleViolations(context, parent, roleUid, "roleUid"));
    demandRole(context, parent, roleUid);
    const code = `cginvite_${randomBytes(32).toString("hex")}`;
    const hash = createHash("sha256").update(code).digest("hex");
    const columns = {
      role_uid: roleUid,
      code_hash: hash,
      key_id: hash.slice(0, 16),
      expiration_time: context.now + durationMs(ttl),
    };
    return { ...records.insert(context, uidIn(context, parent), { columns, body }), code };
  },

  DeleteGroupInvite: records.delete,
} satisfies ServiceMethods;

/** Its code is not known here: what is stored instead is the hash of none. Its role may be gone. */
const copyInvite = (context: ServiceContext, roleUid: string, invite: Partial<GroupInvite>): GroupInvite => {
  const { keyId = "", expirationTime, role: _, code: _code, ...body } = invite;
  const uid = uidIn(context, "");
  const columns = {
    role_uid: roleUid,
    code_hash: `not known, of ${uid}`,
    key_id: keyId,
    expiration_time: expirationTime ? Date.parse(expirationTime) : newTimes(context).createTime,
  };
  return records.insert(context, uid, { columns, body });
};
