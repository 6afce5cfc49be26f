// Who declares the bindings of a group: one set, and beside an exclusive set no RoleBinding, which the set would remove. The program's
// side compares resources and uids as it constructs them, the engine's side compares uids as it checks them.
import { type Operation, soleOperation } from "../log/operation.ts";

interface Claim {
  type: "RoleBinding" | "RoleBindingSet";
  /** logical name */
  name: string;
  exclusive: boolean;
}

export interface BindingPlaces {
  /**
   * A resource declares bindings in the group `place`, which is a uid or a resource of the program; `key` is the same whenever the same
   * resource does. Returns why it must not, with the argument that is wrong.
   */
  claim(place: unknown, key: unknown, own: Claim): Problem | undefined;
  /** Whether a resource with another key declares bindings there. */
  isShared(place: unknown, key: unknown): boolean;
}

interface Event {
  place: unknown;
  key: unknown;
  own: Claim;
}

type Problem = [{ property: string; reason: string }];

/** `operation`: the processes that share it. */
export const bindingPlaces = (operation: Operation = soleOperation(), service = ""): BindingPlaces => {
  const places = new Map<unknown, Map<unknown, Claim>>();
  const reduce = ({ place, key, own }: Event): Problem | undefined => {
    const claims = places.get(place) ?? new Map<unknown, Claim>();
    places.set(place, claims);
    const others = [...claims].flatMap(([other, claim]) => (other === key ? [] : [claim]));
    claims.set(key, own);
    const sets = others.filter(({ type }) => type === "RoleBindingSet");
    if (own.type === "RoleBinding") {
      const set = sets.find(({ exclusive }) => exclusive);
      return set && conflict("parent", set, own);
    }
    if (sets[0])
      return [
        {
          property: "parent",
          reason: `RoleBindingSet ${sets[0].name} declares the bindings of this group already; put all of them into one set`,
        },
      ];
    const binding = own.exclusive ? others.find(({ type }) => type === "RoleBinding") : undefined;
    return binding && conflict("exclusive", own, binding);
  };
  const { append, refresh } = operation.share(`bindings ${service}`, reduce);
  return {
    claim: (place, key, own) => append({ place, key, own }),
    isShared: (place, key) => {
      refresh?.();
      return [...(places.get(place)?.keys() ?? [])].some((other) => other !== key);
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
