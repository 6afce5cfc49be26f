// identity-replaced: an identity goes, and one of its name gets another uid.
import { groupNameOf, type Rule } from "./rule.ts";

export const identityReplaced: Rule = {
  name: "identity-replaced",
  find: ({ replacements, before, after }) =>
    replacements.map(({ old, new: next }) => {
      const [from, to] = [groupNameOf(before, old.group), groupNameOf(after, next.group)];
      const place = from === to ? "" : `, in ${to} instead of ${from}`;
      return {
        subject: old.id,
        message: `is replaced by one with another uid${place}; workflows that name its uid stop working`,
      };
    }),
};
