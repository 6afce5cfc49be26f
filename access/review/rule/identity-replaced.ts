// identity-replaced: an identity goes, and one of its name, or that the same workloads can assume, gets another uid.
import { assumptionOf } from "../assume.ts";
import { groupNameOf, type Rule } from "./rule.ts";

export const identityReplaced: Rule = {
  name: "identity-replaced",
  find: ({ replacements, before, after }) =>
    replacements.map(({ old, new: next }) => {
      const [from, to] = [groupNameOf(before, old.group), groupNameOf(after, next.group)];
      const place = from === to ? "" : `, in ${to} instead of ${from}`;
      const name = old.name === next.name ? "" : ` and the name ${next.name}`;
      const who = assumptionOf(old.relationship)?.text;
      const lost = "workflows that name its uid stop working";
      return {
        subject: old.id,
        message: `is replaced by one with another uid${name}${place}; ${lost}${who === undefined ? "" : `: ${who}`}`,
      };
    }),
};
