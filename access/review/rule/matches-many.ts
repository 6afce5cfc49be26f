// matches-many: more than one repository or branch can assume an identity.
import { breadthOf } from "../../workload/breadth.ts";
import type { Rule } from "./rule.ts";

export const matchesMany: Rule = {
  name: "matches-many",
  find: ({ reassumed, budget }) =>
    reassumed.flatMap(({ id, relationship }) => {
      const breadth = breadthOf(relationship, budget);
      if (breadth === undefined) return [];
      return [{ subject: id, message: `more than one repository or branch can assume it: ${breadth}` }];
    }),
};
