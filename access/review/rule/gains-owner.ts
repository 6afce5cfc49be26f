// gains-owner: an identity gains a capability that lets it give access to itself or to others.
import { GRANTING } from "../danger.ts";
import { placesOf, type Rule } from "./rule.ts";

export const gainsOwner: Rule = {
  name: "gains-owner",
  people: true,
  find: ({ changes, after }) =>
    changes.flatMap(({ identity, gains }) => {
      const rows = gains.filter(({ capability }) => GRANTING.includes(capability));
      if (rows.length === 0) return [];
      const capabilities = [...new Set(rows.map(({ capability }) => capability))].sort().join(", ");
      const places = placesOf(
        after,
        rows.map(({ group }) => group),
      );
      return [
        { subject: identity, message: `can give access to itself and others at ${places}: it gains ${capabilities}` },
      ];
    }),
};
