// last-owner-goes: no identity is left with the role owner on an organization.
import { ownersIn } from "../owners.ts";
import type { Rule } from "./rule.ts";

export const lastOwnerGoes: Rule = {
  name: "last-owner-goes",
  find: ({ before, after }) => {
    const left = ownersIn(after);
    return [...ownersIn(before).keys()]
      .filter((group) => after.groups.has(group) && !left.has(group))
      .map((subject) => ({ subject, message: "no identity is left with the role owner on the organization itself" }));
  },
};
