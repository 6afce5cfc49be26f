// GroupInvite: a code that lets a person join a group. It is immutable: another role, address or ttl is another invite
// with another code. The state keeps the code, which only the answer of the create shows, and of the role its uid, with the name
// of a built-in one: other names may be secret where the role is declared.
import { isRoot, type Json, resources } from "../../schema/index.ts";
import { resolveRole } from "./built-in-role.ts";
import type { Kind } from "./kind.ts";

interface Role {
  uid?: string;
  name?: string;
}

export const groupInvite: Kind = {
  ...resources.groupInvite,
  filters: () => ({}),
  matchedBy: ["roleUid", "email"],
  arguments: { roleUid: "role" },
  byName: ["roleUid"],
  resolve: resolveRole("roleUid"),
  normalizeResponse: ({ role, ...record }: Json) => ({
    ...record,
    roleUid: record.roleUid || (role as Role | undefined)?.uid,
  }),
  // An adopted record does not return its ttl: assume that of the program.
  settle: (desired: Json, { ttl }: Json) => (ttl === undefined ? { ...desired, ttl } : desired),
  stored: ({ role, roleUid, ...fields }: Json) => {
    const { uid = roleUid as string, name } = (role ?? {}) as Role;
    return { ...fields, role: { uid, name: isRoot(uid) ? name : undefined } };
  },
};
