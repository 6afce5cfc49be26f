// Checks the declarations of bindings in a group: at most one set, and no RoleBinding beside an exclusive set, which would remove it. The
// program's side compares resources and uids as it constructs them, the engine's side compares uids as it checks them.
import { getOrInsert } from "../../schema/index.ts";
import { type Operation, soleOperation } from "../log/operation.ts";

type Claim = {
  type: "RoleBinding" | "RoleBindingSet";
  /** logical name */
  name: string;
  exclusive: boolean;
};

export type BindingPlaces = ReturnType<typeof bindingPlaces>;

interface Event {
  place: unknown;
  key: unknown;
  own: Claim;
}

type Problem = [{ property: string; reason: string }];

/** `operation`: the processes that share it. */
export const bindingPlaces = (operation: Operation = soleOperation(), service = "") => {
  // A group may have thousands of bindings: a binding is compared only with the sets.
  const places = new Map<unknown, Record<Claim["type"], Map<unknown, Claim>>>();
  const reduce = ({ place, key, own }: Event): Problem | undefined => {
    const claims = getOrInsert(places, place, () => ({ RoleBinding: new Map(), RoleBindingSet: new Map() }));
    claims[own.type].set(key, own);
    const sets = [...claims.RoleBindingSet].flatMap(([other, claim]) => (other === key ? [] : [claim]));
    if (own.type === "RoleBinding") {
      const set = sets.find(({ exclusive }) => exclusive);
      return set && conflict("parent", set, own);
    }
    if (sets[0]) {
      const reason = `RoleBindingSet ${sets[0].name} declares the bindings of this group already; put all of them into one set`;
      return [{ property: "parent", reason }];
    }
    const [binding] = own.exclusive ? claims.RoleBinding.values() : [];
    return binding && conflict("exclusive", own, binding);
  };
  const { append, refresh } = operation.share(`bindings ${service}`, reduce);
  return {
    /**
     * A resource declares bindings in the group `place`, which is a uid or a resource of the program; `key` is always the same for one
     * resource. Returns why it must not, with the wrong argument.
     */
    claim: (place: unknown, key: unknown, own: Claim): Problem | undefined => append({ place, key, own }),
    /** Whether a resource other than the set with this key declares bindings there. */
    isShared: (place: unknown, key: unknown): boolean => {
      refresh?.();
      const claims = places.get(place);
      if (!claims) return false;
      return claims.RoleBinding.size > 0 || [...claims.RoleBindingSet.keys()].some((other) => other !== key);
    },
  };
};

const conflict = (property: string, set: Claim, binding: Claim): Problem => [
  {
    property,
    reason:
      `RoleBinding ${binding.name} is in the group of RoleBindingSet ${set.name}, which is exclusive and would remove it; ` +
      "declare its pair in the set instead, or leave out exclusive",
  },
];
