// matches-everyone: every customer of a service that many share can assume an identity.
import { everyoneIn } from "../../workload/everyone.ts";
import type { Rule } from "./rule.ts";

export const matchesEveryone: Rule = {
  name: "matches-everyone",
  find: ({ reassumed, budget }) =>
    reassumed.flatMap(({ id, relationship }) => {
      const who = everyoneIn(relationship, budget);
      return who === undefined ? [] : [{ subject: id, message: `can be assumed by ${who}` }];
    }),
};
