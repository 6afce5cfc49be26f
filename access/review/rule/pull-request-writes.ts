// pull-request-writes: a pull request, whose author may be anyone, can assume an identity that changes things.
import { accessIn } from "../../graph/holds.ts";
import { admitsPullRequests } from "../breadth.ts";
import { isWrite } from "../write.ts";
import { placesOf, type Rule } from "./rule.ts";

export const pullRequestWrites: Rule = {
  name: "pull-request-writes",
  find: ({ changes, reassumed, before, after }) => {
    const access = accessIn(after);
    const gained = new Map(changes.map(({ identity, gains }) => [identity, gains]));
    const isOpened = new Set(
      reassumed
        .filter(({ id }) => !admitsPullRequests(before.identities.get(id)?.relationship ?? null))
        .map(({ id }) => id),
    );
    return [...after.identities.values()].flatMap(({ id, relationship }) => {
      const rows = (isOpened.has(id) ? access.topmostOf(id) : (gained.get(id) ?? [])).filter(isWrite);
      if (rows.length === 0 || !admitsPullRequests(relationship)) return [];
      const capabilities = [...new Set(rows.map(({ capability }) => capability))].sort();
      const shown =
        capabilities.slice(0, 5).join(", ") + (capabilities.length > 5 ? ` and ${capabilities.length - 5} more` : "");
      const places = placesOf(
        after,
        rows.map(({ group }) => group),
      );
      return [{ subject: id, message: `a pull request can assume it, and it can write at ${places}: ${shown}` }];
    });
  },
};
