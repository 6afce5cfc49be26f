// matches-many: more than one repository or branch can assume an identity.
import { breadthOf } from "../breadth.ts";
import type { Rule } from "./rule.ts";

export const matchesMany: Rule = {
  name: "matches-many",
  find: ({ reassumed }) =>
    reassumed.flatMap(({ id, relationship }) => {
      const breadth = breadthOf(relationship);
      if (breadth === undefined) return [];
      return [{ subject: id, message: `more than one repository or branch can assume it: ${breadth}` }];
    }),
};
