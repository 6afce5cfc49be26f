// RoleBinding: written by uids, answered with the identity, the group and the role spelt out. The state keeps uid and name of
// each: description, issuer, subject and email belong to other records, and may be secret there.
import { isRoot, type Json } from "../../schema/index.ts";
import type { Behavior } from "../record/kind.ts";
import { ROLE_NAME, SECRET_NAME } from "../record/state.ts";
import { builtInRoleUid, isRoleName } from "./built-in-role.ts";
import { partOf } from "./named.ts";

export const PARTS = ["identity", "role", "group"] as const;
export type Part = (typeof PARTS)[number];

/** Whether the name of a part stays out of the state: `bag` holds the arguments, or the outputs so far. */
const isSecret = (bag: Json, part: Part, uid: unknown): boolean => {
  if (bag.names !== undefined) return (bag.names as Json)[part] === SECRET_NAME;
  const before = partOf(bag, part);
  return before.uid !== undefined && before.uid === uid && before.name === undefined;
};

export const roleBinding: Behavior = {
  display: ["names"],
  placedAs: "group",
  isHarmlessTwice: true,
  batchCreate: "BatchCreateRoleBindings",
  respell: (desired: Json, record: Json) => {
    const { roleUid: name } = desired;
    const { uid, name: liveName } = partOf(record, "role");
    if (!isRoleName(name) || liveName !== name || uid === undefined || !isRoot(uid)) return desired;
    return { ...desired, roleUid: uid, [ROLE_NAME]: name };
  },
  resolve: async (session, desired: Json) => {
    const { roleUid: name } = desired;
    if (!isRoleName(name)) return desired;
    return { ...desired, roleUid: await builtInRoleUid(session, name), [ROLE_NAME]: name };
  },
  stored: (answer: Json, bag: Json) => {
    const { identityUid, roleUid, ...fields } = answer;
    // Samples of the API do not echo the two uids: they stand in the objects.
    const uids: Record<Part, unknown> = {
      identity: identityUid || partOf(answer, "identity").uid,
      role: roleUid || partOf(answer, "role").uid,
      group: partOf(answer, "group").uid,
    };
    const parts = PARTS.map((part) => {
      const uid = uids[part];
      const name = isSecret(bag, part, uid) ? undefined : partOf(answer, part).name;
      return [part, uid ? { uid, name } : undefined];
    });
    return { ...fields, ...Object.fromEntries(parts), [ROLE_NAME]: bag[ROLE_NAME] };
  },
  shown: (outputs: Json) => {
    const role = partOf(outputs, "role");
    const isNamed = role.uid !== undefined && isRoot(role.uid) && outputs[ROLE_NAME] === role.name;
    return isNamed ? { role: role.name } : {};
  },
  holdsSecret: (outputs: Json, desired: Json) =>
    PARTS.some((part) => (desired.names as Json | undefined)?.[part] === SECRET_NAME && partOf(outputs, part).name),
};
