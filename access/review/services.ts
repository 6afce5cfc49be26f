// A change at several services. Services are separate: no record of one counts for the other. This holds even if a service lists a uid of
// another one, as every service does for its built-in roles. So each has its own review, and this file joins them.
import { compare } from "../canonical.ts";
import { findingsInOrder, subjectsInOrder } from "../graph/danger.ts";
import { type AccessGraph, type GraphBuilder, newGraph, renamed } from "../graph/graph.ts";
import type { PeopleGraph } from "../graph/people.ts";
import { type Report, type Review, RULES } from "./report.ts";

/** By address of the service. The first review contains the parts that belong to no service: rules, tests, the branch. */
export const joinReviews = (reviews: ReadonlyMap<string, Review>): Review => {
  const [first, ...others] = [...reviews.values()];
  if (first === undefined) throw new TypeError("a review has a service");
  if (others.length === 0) return first;
  const at = <T>(pick: (report: Report) => readonly T[]) =>
    [...reviews].flatMap(([service, { report }]) => pick(report).map((one) => ({ ...one, service })));
  const all = <T>(pick: (report: Report) => readonly T[]) =>
    [...reviews.values()].flatMap(({ report }) => pick(report));
  const [identities, people] = [at((one) => one.identities), at((one) => one.people)];
  const findings = findingsInOrder(
    at(({ findings: own }) => own).toSorted((a, b) => RULES.indexOf(a.rule) - RULES.indexOf(b.rule)),
    [...identities, ...people],
  );
  const report: Report = {
    ...first.report,
    organizations: unique(all(({ organizations = [] }) => organizations)).sort(compare),
    findings,
    identities: subjectsInOrder(identities, findings),
    people: subjectsInOrder(people, findings),
    ...Object.fromEntries(LISTS.map((name) => [name, all((one): readonly unknown[] => one[name])])),
    unknown: unique(all(({ unknown }) => unknown)),
  };
  const placed = [...reviews].map(([service, { before, after, people: own }], i) => {
    const at = <G extends AccessGraph>(graph: G): G =>
      // Its ids are those of no other service. The uids do not change.
      i === 0 ? graph : renamed(graph, (id) => placedId(id, service));
    return { before: at(before), after: at(after), people: { before: at(own.before), after: at(own.after) } };
  });
  // In a people graph, only subjects differ from the nodes of other graphs.
  const peopleOf = (side: "before" | "after") =>
    unionOf(placed.map((one) => one.people[side])) as unknown as PeopleGraph;
  return {
    report,
    before: unionOf(placed.map(({ before }) => before)),
    after: unionOf(placed.map(({ after }) => after)),
    people: { before: peopleOf("before"), after: peopleOf("after") },
    unknownSubjects: first.unknownSubjects.filter((one) =>
      others.every(({ unknownSubjects }) => unknownSubjects.includes(one)),
    ),
  };
};

const LISTS = [
  ...["opens", "closes", "deletedGroups", "adopted", "forceDestroy"],
  ...["undeclared", "expiringKeys", "pullTokens", "notVisible"],
] as const;

/** Each once, by its JSON. */
export const unique = <T>(all: readonly T[]): T[] => [
  ...new Map(all.map((one) => [JSON.stringify(one), one])).values(),
];

/** The id of a node beside the nodes of another service. */
export const placedId = (id: string, service: string): string => `${service} ${id}`;

/** The first of two nodes with one id counts. */
export const unionOf = (graphs: readonly AccessGraph[]): GraphBuilder => {
  const union = newGraph();
  for (const graph of graphs)
    for (const [kind, nodes] of Object.entries(graph) as [keyof AccessGraph, ReadonlyMap<string, never>][])
      for (const [id, node] of nodes) if (!union[kind].has(id)) (union[kind] as Map<string, never>).set(id, node);
  return union;
};
