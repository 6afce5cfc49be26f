// Everyone who has access, as one graph: identities, and people without one. A test of who may do something is about all of them.
import { type AccessGraph, newGraph } from "../graph/graph.ts";
import { peopleGraph } from "../graph/people.ts";

/** `nowMs`: invites that have ended by then are left out. */
export const everyoneIn = (graph: AccessGraph, nowMs: number): AccessGraph => {
  const people = peopleGraph(graph, nowMs);
  const all = newGraph(graph);
  for (const [id, one] of people.identities) all.identities.set(id, one);
  for (const [id, one] of people.bindings) all.bindings.set(id, one);
  return all;
};

/** People have names of their own, which no group is part of: `people of acme-sso`. */
export const isPeople = (identity: object): boolean => "who" in identity;
