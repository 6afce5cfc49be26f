// last-owner-goes: no identity is left with the role owner on an organisation.
import type { AccessGraph, NodeId } from "../../graph/graph.ts";
import { isOrganization, type Rule } from "./rule.ts";

export const lastOwnerGoes: Rule = {
  name: "last-owner-goes",
  find: ({ before, after }) => {
    const left = ownedIn(after);
    return [...ownedIn(before)]
      .filter((group) => after.groups.has(group) && !left.has(group))
      .map((subject) => ({ subject, message: "no identity is left with the role owner on the organisation itself" }));
  },
};

/** Organisations with an owner. */
const ownedIn = (graph: AccessGraph): Set<NodeId> =>
  new Set(
    [...graph.bindings.values()].flatMap(({ group, identity, role }) => {
      const { name, group: place } = graph.roles.get(role) ?? {};
      const isOwner = name === "owner" && place === null && graph.identities.has(identity);
      return isOwner && isOrganization(graph, group) ? [group] : [];
    }),
  );
