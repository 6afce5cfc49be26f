// The names of what a role binding connects, where the program does not pass them: as this process has met them. A name that is secret
// on its own record stays out of the bindings' outputs and of the log.
import { isRoleName } from "../provider/kind/built-in-role.ts";
import { SECRET_NAME } from "../provider/state/state.ts";
import type { Json } from "../schema/index.ts";

export interface Names {
  /** A record has this name. */
  note(uid: unknown, name: unknown, isSecret: boolean): void;
  /** The argument `names` of a role binding or a set; undefined where the program passes it. */
  of(type: string, inputs: Json): Json | undefined;
}

export const createNames = (): Names => {
  const known = new Map<unknown, string>();
  // A role may be given by its name.
  const nameOf = (uid: unknown): string | undefined => known.get(uid) ?? (isRoleName(uid) ? uid : undefined);
  return {
    note: (uid, name, isSecret) => {
      if (typeof uid === "string" && uid !== "" && typeof name === "string")
        known.set(uid, isSecret ? SECRET_NAME : name);
    },
    of: (type, { names, identity, role, parent, bindings }) => {
      if (names !== undefined) return undefined;
      if (type === "RoleBinding") return { identity: nameOf(identity), role: nameOf(role), group: nameOf(parent) };
      if (type !== "RoleBindingSet" || !Array.isArray(bindings)) return undefined;
      const pairs = bindings.map((pair) => {
        const { identity: who, role: what } = (pair ?? {}) as Json;
        return { identity: nameOf(who), role: nameOf(what) };
      });
      return pairs as unknown as Json;
    },
  };
};
