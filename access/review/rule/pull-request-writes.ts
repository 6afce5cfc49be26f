// pull-request-writes: a pull request, whose author may be anyone, can assume an identity that changes things.
import { accessIn } from "../../graph/holds.ts";
import { pullRequestsIn } from "../../workload/pull-request.ts";
import { byEffect, isWrite } from "../danger.ts";
import { placesOf, type Rule } from "./rule.ts";

export const pullRequestWrites: Rule = {
  name: "pull-request-writes",
  find: ({ changes, reassumed, before, after, budget }) => {
    const access = accessIn(after);
    const gained = new Map(changes.map(({ identity, gains }) => [identity, gains]));
    const isOpened = new Set(
      reassumed
        .filter(({ id }) => pullRequestsIn(before.identities.get(id)?.relationship ?? null, budget).is !== "yes")
        .map(({ id }) => id),
    );
    return [...after.identities.values()].flatMap(({ id, relationship }) => {
      const rows = (isOpened.has(id) ? access.topmostOf(id) : (gained.get(id) ?? [])).filter(isWrite);
      if (rows.length === 0) return [];
      const answer = pullRequestsIn(relationship, budget);
      if (answer.is === "no") return [];
      const capabilities = [...new Set(rows.map(({ capability }) => capability))].sort(byEffect);
      const shown =
        capabilities.slice(0, 5).join(", ") + (capabilities.length > 5 ? ` and ${capabilities.length - 5} more` : "");
      const places = placesOf(
        after,
        rows.map(({ group }) => group),
      );
      const who =
        answer.is === "yes"
          ? `a pull request can assume it, as ${answer.example.sub},`
          : "a pull request can perhaps assume it, since its patterns cannot be decided,";
      return [{ subject: id, message: `${who} and it can write at ${places}: ${shown}` }];
    });
  },
};
