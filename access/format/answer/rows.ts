// An answer by identity and group, with names, as people read it.

import { resources } from "../../../schema/index.ts";
import { compare } from "../../graph/compare.ts";
import { type AccessGraph, type NodeId, pathOf } from "../../graph/graph.ts";
import type { NotVisible } from "../../graph/live.ts";
import type { Answer } from "../../query/answer.ts";
import { counted } from "../words.ts";

export interface HeldThere {
  /** path of the group of the binding */
  path: string;
  role: string;
  /** empty: the role cannot be read */
  capabilities: string[];
}

export interface HeldBy {
  name: string;
  uid: string;
  /** path of the group that holds the identity */
  path: string;
  places: HeldThere[];
}

/** By name; the groups of each from the organisation down. */
export const heldIn = ({ graph, grants, unknown }: Answer): HeldBy[] => {
  const byIdentity = new Map<NodeId, Map<NodeId, HeldThere>>();
  const placeOf = (binding: NodeId, identity: NodeId, group: NodeId, role: NodeId): HeldThere => {
    const places = byIdentity.get(identity) ?? new Map<NodeId, HeldThere>();
    byIdentity.set(identity, places);
    const known = places.get(binding);
    if (known) return known;
    const place = { path: pathOf(graph, group), role: graph.roles.get(role)?.name ?? role, capabilities: [] };
    places.set(binding, place);
    return place;
  };
  for (const { binding, identity, group, role, capability } of grants)
    placeOf(binding, identity, group, role).capabilities.push(capability);
  for (const { id, identity, group, role } of unknown) placeOf(id, identity, group, role);
  return [...byIdentity]
    .map(([id, places]) => ({ ...identityOf(graph, id), places: [...places.values()].sort(byPathAndRole) }))
    .sort((a, b) => compare(a.name, b.name) || compare(a.uid, b.uid));
};

const identityOf = (graph: AccessGraph, id: NodeId): Omit<HeldBy, "places"> => {
  const node = graph.identities.get(id);
  return { name: node?.name ?? id, uid: node?.uid ?? id, path: node ? pathOf(graph, node.group) : "" };
};

const byPathAndRole = (a: HeldThere, b: HeldThere): number =>
  compare(a.path === "/" ? "" : a.path, b.path === "/" ? "" : b.path) || compare(a.role, b.role);

/** `Access of release at platform/registry: tag.create` */
export const titleOf = (
  { graph, question: { identity, group, capability } }: Answer,
  show: (text: string) => string = (text) => text,
): string => {
  const whose = identity ? `Access of ${show(identity.name)}` : "Access";
  const where = group ? ` at ${show(pathOf(graph, group.id))}` : "";
  return `${whose}${where}${capability ? `: ${show(capability)}` : ""}`;
};

/** `2 identities, 3 bindings` */
export const totalsOf = (held: readonly HeldBy[]): string => {
  const bindings = held.reduce((sum, { places }) => sum + places.length, 0);
  return `${counted(held.length, "identity", "identities")}, ${counted(bindings, "binding")}`;
};

export const NOT_READABLE = "unknown: the role cannot be read";
export const NO_GRANTS = "No binding grants this.";
export const NO_VISIBLE_GRANTS = "No binding that you can see grants this.";

const PATHS_SHOWN = 10;

/** What cannot be listed, a line for each kind: `role bindings of /, platform`. */
export const hiddenLines = (graph: AccessGraph, notVisible: readonly NotVisible[]): string[] =>
  [...Map.groupBy(notVisible, ({ kind }) => kind)].map(([kind, entries]) => {
    const paths = entries.map(({ group }) => pathOf(graph, group));
    const more = paths.length > PATHS_SHOWN ? ` and ${paths.length - PATHS_SHOWN} more groups` : "";
    return `${resources[kind].words} of ${paths.slice(0, PATHS_SHOWN).join(", ")}${more}`;
  });
