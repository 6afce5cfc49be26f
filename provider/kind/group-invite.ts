// GroupInvite: of the role, the state keeps its uid, and the name of a built-in one: other names may be secret where the role is
// declared.
import { isRoot, type Json } from "../../schema/index.ts";
import type { Behavior } from "./kind.ts";

interface Role {
  uid?: string;
  name?: string;
}

export const groupInvite: Behavior = {
  // An adopted record does not return its ttl: assume that of the program.
  settle: (desired: Json, { ttl }: Json) => (ttl === undefined ? { ...desired, ttl } : desired),
  stored: ({ role, roleUid, ...fields }: Json) => {
    const { uid = roleUid as string, name } = (role ?? {}) as Role;
    return { ...fields, role: { uid, name: isRoot(uid) ? name : undefined } };
  },
};
