// Invites to a group. One is a promise of a role binding, so creating it takes what granting the role takes
// (docs/internals/contract.md#d21). Only the response of the create contains the code; its hash is stored.
import { createHash, randomBytes } from "node:crypto";
import { durationMs, type GroupInvite } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { existing, newTimes, recordFrom, recordsOf, throwIfAny, timeText, uidIn } from "./record.ts";
import { demandRole, roleViolations } from "./role.ts";

const groupInviteFrom = (row: Row, store: Store) => {
  const invite = recordFrom<GroupInvite>(row);
  const role = store.get(shapes.role, invite.roleUid);
  return role ? { ...invite, role: recordFrom<NonNullable<GroupInvite["role"]>>(role) } : invite;
};

const records = recordsOf("groupInvite", groupInviteFrom);

export const groupInviteService = {
  GetGroupInvite: records.get,

  ListGroupInvites: records.list(({ keyId }) => equals({ key_id: keyId })),

  CreateGroupInvite: ({ parent, groupInvite }, context) => {
    const { ttl, ...invite } = records.input(context, groupInvite);
    const { roleUid } = invite;
    existing(context, "group", parent);
    if (context.original) return copyInvite(context, invite);
    throwIfAny(roleViolations(context, parent, roleUid, "roleUid"));
    demandRole(context, parent, roleUid);
    const code = `cginvite_${randomBytes(32).toString("hex")}`;
    const hash = createHash("sha256").update(code).digest("hex");
    const expirationTime = timeText(context.now + durationMs(ttl));
    const body = { ...invite, keyId: hash.slice(0, 16), expirationTime };
    return { ...records.insert(context, uidIn(context, parent), body, { code_hash: hash }), code };
  },

  DeleteGroupInvite: records.delete,
} satisfies ServiceMethods;

/** Its code is unknown here, so the stored text is the hash of no code. Its role may be deleted. */
const copyInvite = (context: ServiceContext, { role: _, code: _code, ...invite }: Partial<GroupInvite>) => {
  const uid = uidIn(context, "");
  const expirationTime = invite.expirationTime ?? timeText(newTimes(context).createTime);
  return records.insert(context, uid, { keyId: "", ...invite, expirationTime }, { code_hash: `not known, of ${uid}` });
};
