// transient-access: an identity may hold, while the update runs, what it holds neither before nor after it, or a workload what it never holds
// by it. An update that ends early leaves it so, and the order of the steps decides.
import { byEffect } from "../danger.ts";
import { placesOf, type Rule } from "./rule.ts";

export const transientAccess: Rule = {
  name: "transient-access",
  people: true,
  find: ({ most, transient }) =>
    transient.map(({ identity, rows, isFormer }) => {
      const capabilities = [...new Set(rows.map(({ capability }) => capability))].sort(byEffect).join(", ");
      const places = placesOf(
        most,
        rows.map(({ group }) => group),
      );
      return {
        subject: identity,
        message: `${isFormer ? "who can assume it before the change " : ""}may hold ${capabilities} at ${places} while the update runs, or after one that ends early`,
      };
    }),
};
