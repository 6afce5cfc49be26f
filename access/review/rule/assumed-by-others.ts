// assumed-by-others: another owner, issuer, organization or project can assume an identity than before.
import type { Json } from "../../../schema/index.ts";
import type { IdentityNode } from "../../graph/graph.ts";
import { othersIn } from "../../workload/others.ts";
import type { Rule } from "./rule.ts";

export const assumedByOthers: Rule = {
  name: "assumed-by-others",
  find: ({ reassumed, replacements, before, budget }) => {
    const updated = reassumed.map((now) => ({ old: before.identities.get(now.id), now }));
    const replaced = replacements.map(({ old, new: now }) => ({ old, now }));
    return [...updated, ...replaced].flatMap(({ old, now }) => {
      if (!old?.relationship || !now.relationship) return [];
      const others = othersIn(relationshipOf(old), relationshipOf(now), budget);
      if (others.is === "none") return [];
      const message =
        others.is === "found"
          ? `others can assume it now: ${others.text}`
          : "perhaps others can assume it now: its patterns cannot be decided";
      return [{ subject: now.id, message }];
    });
  },
};

const relationshipOf = ({ relationship }: IdentityNode): Json => relationship as Json;
