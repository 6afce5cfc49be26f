// gains-owner: an identity gains a capability that lets it give access to itself or to others.
import type { AccessGraph, NodeId } from "../../graph/graph.ts";
import type { AccessRow } from "../change.ts";
import { byEffect, isGrant } from "../danger.ts";
import { type Found, placesOf, type Rule } from "./rule.ts";

export const gainsOwner: Rule = {
  name: "gains-owner",
  people: true,
  find: ({ changes, after, most, transient }) => {
    const gained = ownersAmong(after, changes, (capabilities) => `: it gains ${capabilities}`);
    const known = new Set(gained.map(({ subject }) => subject));
    const passing = ownersAmong(
      most,
      transient.map(({ identity, rows: gains }) => ({ identity, gains })),
      (capabilities) => ` while the update runs, or after one that ends early: it may hold ${capabilities}`,
    );
    return [...gained, ...passing.filter(({ subject }) => !known.has(subject))];
  },
};

const ownersAmong = (
  graph: AccessGraph,
  changes: readonly { identity: NodeId; gains: readonly AccessRow[] }[],
  why: (capabilities: string) => string,
): Found[] =>
  changes.flatMap(({ identity, gains }) => {
    const rows = gains.filter(({ capability }) => isGrant(capability));
    if (rows.length === 0) return [];
    const capabilities = [...new Set(rows.map(({ capability }) => capability))].sort(byEffect).join(", ");
    const places = placesOf(
      graph,
      rows.map(({ group }) => group),
    );
    return [{ subject: identity, message: `can give access to itself and others at ${places}${why(capabilities)}` }];
  });
