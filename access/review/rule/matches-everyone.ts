// matches-everyone: every customer of a service that many share can assume an identity.
import { everyoneIn } from "../../workload/everyone.ts";
import type { Rule } from "./rule.ts";

export const matchesEveryone: Rule = {
  name: "matches-everyone",
  find: ({ reassumed, budget }) =>
    reassumed.flatMap(({ id, relationship }) => {
      const everyone = everyoneIn(relationship, budget);
      if (everyone.is === "none") return [];
      const who = everyone.is === "found" ? everyone.text : "perhaps everyone: its patterns cannot be decided";
      return [{ subject: id, message: `can be assumed by ${who}` }];
    }),
};
