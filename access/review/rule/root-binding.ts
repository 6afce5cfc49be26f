// root-binding: an identity gets a role on a whole organization.
import type { BindingNode } from "../../graph/graph.ts";
import { isOrganization, nameOf, type Rule } from "./rule.ts";

const keyOf = ({ identity, role, group }: BindingNode): string => `${identity} ${role} ${group}`;

export const rootBinding: Rule = {
  name: "root-binding",
  people: true,
  find: ({ before, after }) => {
    const held = new Set([...before.bindings.values()].map(keyOf));
    const gained = [...after.bindings.values()].filter(
      (one) => isOrganization(after, one.group) && !held.has(keyOf(one)),
    );
    return [...Map.groupBy(gained, ({ identity }) => identity)].map(([subject, bindings]) => {
      const roles = [...new Set(bindings.map(({ role }) => nameOf(after.roles, role)))].sort().join(", ");
      const groups = [...new Set(bindings.map(({ group }) => nameOf(after.groups, group)))];
      return { subject, message: `gets ${roles} on the whole organization ${groups.sort().join(", ")}` };
    });
  },
};
