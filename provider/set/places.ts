// Who declares the bindings of a group: one set, and beside an exclusive set no RoleBinding, which the set would remove. The program's
// side compares resources and uids as it constructs them, the engine's side compares uids as it checks them.

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
  claim(place: unknown, key: unknown, own: Claim): [{ property: string; reason: string }] | undefined;
}

export const bindingPlaces = (): BindingPlaces => {
  const places = new Map<unknown, Map<unknown, Claim>>();
  return {
    claim(place, key, own) {
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
    },
  };
};

const conflict = (property: string, set: Claim, binding: Claim): [{ property: string; reason: string }] => [
  {
    property,
    reason:
      `RoleBinding ${binding.name} is in the group of RoleBindingSet ${set.name}, which is exclusive and would remove it; ` +
      "declare its pair in the set instead, or leave out exclusive",
  },
];
