// Identities that a policy begins to declare under the name of an existing one. With `adopt: "match"` the update takes that one over,
// as the review by names shows; without it, the update creates another one. The policy does not say which.
import { printable } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { PolicyGraph } from "../policy/graph.ts";
import type { UnknownPart } from "./proposal.ts";
import { groupNameOf, nameOf } from "./rule/rule.ts";

/** `known` are the records that the policy had before, as `source` says. */
export const possibleTwins = (
  { graph, identities }: Pick<PolicyGraph, "graph" | "identities">,
  live: AccessGraph,
  known: { ids: ReadonlySet<NodeId>; source: string },
): UnknownPart[] => {
  const bindings = Map.groupBy(graph.bindings.values(), ({ identity }) => identity);
  return [...identities]
    .filter(([, id]) => live.identities.has(id) && !known.ids.has(id))
    .flatMap(([key, id]) =>
      (bindings.get(id) ?? []).map(
        ({ role, group }): UnknownPart => ({
          subject: key,
          hides: { of: "binding", role, group },
          message: `identity ${printable(key)}: ${known.source} does not have it, and the API has one of its name, ${id}: without adopt: "match" the update creates another one, which would get role ${nameOf(graph.roles, role)} at ${groupNameOf(graph, group)}`,
        }),
      ),
    );
};
