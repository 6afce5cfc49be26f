// GroupInvite: of the role, the state keeps its uid, and the name of a built-in one: other names may be secret where the role is
// declared.
import { isRoot, type Json } from "../../schema/index.ts";
import type { Behavior } from "../record/kind.ts";
import { IMPORTED } from "../record/state.ts";
import { isRoleName } from "./built-in-role.ts";
import { partOf } from "./named.ts";

export const groupInvite: Behavior = {
  respell: (desired: Json, record: Json) => {
    const { uid, name } = partOf(record, "role");
    const isSame = isRoleName(desired.roleUid) && desired.roleUid === name && uid !== undefined;
    // An adopted record does not return its ttl: assume the program's.
    return {
      ...desired,
      ...(isSame && { roleUid: uid }),
      ...(record.ttl === undefined && { ttl: undefined }),
    };
  },
  stored: ({ role, roleUid, ...fields }: Json) => {
    const { uid = roleUid as string, name } = partOf({ role }, "role");
    return { ...fields, role: { uid, name: isRoot(uid) ? name : undefined } };
  },
  // For the code that an import generates: the arguments that lead to this record.
  shown: (outputs: Json) => {
    const { [IMPORTED]: isImported, createTime, expirationTime } = outputs;
    if (isImported !== true) return {};
    const { name } = partOf(outputs, "role");
    const seconds = Math.round((Date.parse(expirationTime as string) - Date.parse(createTime as string)) / 1000);
    return { ...(seconds > 0 && { ttl: `${seconds}s` }), ...(name !== undefined && { role: name }) };
  },
};
