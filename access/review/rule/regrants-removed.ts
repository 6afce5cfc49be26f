// regrants-removed: the run would create again what somebody removed by hand.
import { textOfList } from "../finding-list.ts";
import { type Found, groupNameOf, nameOf, type Rule } from "./rule.ts";

export const regrantsRemoved: Rule = {
  name: "regrants-removed",
  people: true,
  find: ({ restored, after }) => {
    const found = restored.flatMap((id): Found[] => {
      const binding = after.bindings.get(id);
      if (binding) {
        const [role, place] = [nameOf(after.roles, binding.role), groupNameOf(after, binding.group)];
        return [{ subject: binding.identity, message: `gets ${role} at ${place} again, which was removed by hand` }];
      }
      const identity = after.identities.get(id);
      if (identity && "who" in identity)
        return [{ subject: id, message: "gains by a record that was removed by hand, and would be created again" }];
      // The people of these records are found as subjects of their own.
      if (after.providers.has(id) || after.invites.has(id)) return [];
      const kind = identity ? "identity" : after.roles.has(id) ? "role" : "group";
      return [{ subject: id, message: `this ${kind} was removed by hand, and would be created again` }];
    });
    return [...Map.groupBy(found, ({ subject }) => subject)].map(([subject, own]) => ({
      subject,
      ...textOfList("", [...new Set(own.map(({ message }) => message))].sort()),
    }));
  },
};
