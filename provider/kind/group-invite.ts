// GroupInvite: of the role, the state keeps its uid, and the name of a built-in one: other names may be secret where the role is
// declared.
import { isRoot, type Json } from "../../schema/index.ts";
import type { Behavior } from "../record/kind.ts";
import { IMPORTED } from "../record/state.ts";
import { isRoleName } from "./built-in-role.ts";

interface Role {
  uid?: string;
  name?: string;
}

const roleOf = ({ role }: Json): Role => (role ?? {}) as Role;

export const groupInvite: Behavior = {
  respell: (desired: Json, record: Json) => {
    const { uid, name } = roleOf(record);
    const isSame = isRoleName(desired.roleUid) && desired.roleUid === name && uid !== undefined;
    // An adopted record does not return its ttl: assume the program's.
    return {
      ...desired,
      ...(isSame && { roleUid: uid }),
      ...(record.ttl === undefined && { ttl: undefined }),
    };
  },
  stored: ({ role, roleUid, ...fields }: Json) => {
    const { uid = roleUid as string, name } = (role ?? {}) as Role;
    return { ...fields, role: { uid, name: isRoot(uid) ? name : undefined } };
  },
  // For the code that an import generates: the arguments that lead to this record.
  shown: (outputs: Json) => {
    const { [IMPORTED]: isImported, createTime, expirationTime } = outputs;
    if (isImported !== true) return {};
    const seconds = Math.round((Date.parse(expirationTime as string) - Date.parse(createTime as string)) / 1000);
    return { ...(seconds > 0 && { ttl: `${seconds}s` }), ...roleShown(roleOf(outputs)) };
  },
};

const roleShown = ({ name }: Role): Json => (name === undefined ? {} : { role: name });
