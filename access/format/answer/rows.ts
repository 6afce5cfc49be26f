// An answer by identity and group, with names, as people read it.

import { resources } from "../../../schema/index.ts";
import { type AccessGraph, type NodeId, organizationsIn, placesIn } from "../../graph/graph.ts";
import type { NotVisible } from "../../graph/live.ts";
import type { Answer, Held } from "../../query/answer.ts";
import { assumptionOf } from "../../review/assume.ts";
import { byEffect, type Capabilities, worstFirst } from "../../review/danger.ts";
import { countText, inOrganizationsText } from "../words.ts";

export interface HeldThere {
  /** path of the group of the binding, as `placesIn` writes it */
  path: string;
  role: string;
  /** the worst first; empty: the role cannot be read */
  capabilities: string[];
}

export interface HeldBy {
  /** of the identity; of people, of the record that gives the access */
  id: NodeId;
  name: string;
  /** only where another identity has the same name */
  uid?: string | undefined;
  /** who can assume it, in words; of people, who they are */
  assumable: string;
  /** people, invites: they have no identity */
  isPeople?: true;
  /** the same of the group that holds the identity */
  path: string;
  places: HeldThere[];
}

/** The worst first, people like identities; and of each, the groups where it may do the worst. */
export const holdingsIn = (answer: Answer): HeldBy[] =>
  worstFirst([...holdingsOf(answer), ...holdingsOf(answer.people)], ({ name, uid, places }) => ({
    // The first of its places is the worst.
    capabilities: capabilitiesAt(places[0]),
    place: places[0]?.path,
    texts: [name, uid],
  }));

const capabilitiesAt = (place: HeldThere | undefined): Capabilities =>
  place === undefined || place.capabilities.length === 0 ? "unknown" : place.capabilities;

const holdingsOf = ({ graph, grants, unknown }: Held): HeldBy[] => {
  const placeIn = placesIn(graph);
  const byIdentity = new Map<NodeId, Map<NodeId, HeldThere>>();
  const placeOf = (binding: NodeId, identity: NodeId, group: NodeId, role: NodeId): HeldThere => {
    const places = byIdentity.get(identity) ?? new Map<NodeId, HeldThere>();
    byIdentity.set(identity, places);
    const known = places.get(binding);
    if (known) return known;
    const place = { path: placeIn(group), role: graph.roles.get(role)?.name ?? role, capabilities: [] };
    places.set(binding, place);
    return place;
  };
  for (const { binding, identity, group, role, capability } of grants)
    placeOf(binding, identity, group, role).capabilities.push(capability);
  for (const { id, identity, group, role } of unknown) placeOf(id, identity, group, role);
  const identityOf = identitiesIn(graph, placeIn);
  return [...byIdentity].map(([id, places]) => {
    for (const { capabilities } of places.values()) capabilities.sort(byEffect);
    const inOrder = worstFirst(places.values(), (one) => ({
      capabilities: capabilitiesAt(one),
      place: one.path,
      texts: [one.role],
    }));
    return { id: recordOf(graph, id), ...identityOf(id), places: inOrder };
  });
};

const identitiesIn = (
  graph: AccessGraph,
  placeIn: (group: NodeId) => string,
): ((id: NodeId) => Omit<HeldBy, "id" | "places">) => {
  const byName = Map.groupBy(graph.identities.values(), ({ name }) => name);
  return (id) => {
    const node = graph.identities.get(id);
    if (!node) return { name: id, path: "", assumable: NOT_ASSUMABLE };
    const { name, uid, group, relationship } = node;
    if ("who" in node) return { name, path: placeIn(group), assumable: String(node.who), isPeople: true };
    const isTwin = (byName.get(name)?.length ?? 0) > 1;
    const assumable = assumptionOf(relationship)?.text ?? NOT_ASSUMABLE;
    return { name, ...(isTwin && { uid: uid ?? id }), path: placeIn(group), assumable };
  };
};

const recordOf = ({ identities }: AccessGraph, id: NodeId): NodeId => {
  const node: object | undefined = identities.get(id);
  return node && "record" in node ? String(node.record) : id;
};

const NOT_ASSUMABLE = "no workload that you can see: this cannot be read, or the identity cannot be assumed";

/** `Access of release at platform/registry in acme: tag.create` */
export const titleOf = (
  { graph, question: { identity, group, capability } }: Answer,
  show: (text: string) => string = (text) => text,
): string => {
  const whose = identity ? `Access of ${show(identity.name)}` : "Access";
  const where = group ? ` at ${show(placesIn(graph)(group.id))}` : "";
  const names = organizationsIn(graph).map(({ name }) => name);
  return `${whose}${where}${inOrganizationsText(names, show)}${capability ? `: ${show(capability)}` : ""}`;
};

/** `2 identities, 3 bindings; 1 subject without an identity` */
export const totalsOf = (held: readonly HeldBy[]): string => {
  const identities = held.filter(({ isPeople }) => !isPeople);
  const bindings = identities.reduce((sum, { places }) => sum + places.length, 0);
  const people = held.length - identities.length;
  const others = people === 0 ? "" : `; ${countText(people, "subject")} without an identity`;
  return `${countText(identities.length, "identity", "identities")}, ${countText(bindings, "binding")}${others}`;
};

/** `assumed by a workload …`, or who people are. */
export const whoText = ({ assumable, isPeople }: HeldBy): string => (isPeople ? assumable : `assumed by ${assumable}`);

export const NOT_READABLE = "unknown: the role cannot be read";
export const NO_GRANTS = "No binding grants this.";
export const NO_VISIBLE_GRANTS = "No binding that you can see grants this.";

const PATHS_SHOWN = 10;

/** What cannot be listed, a line for each kind: `role bindings of /, platform`. */
export const hiddenLines = (graph: AccessGraph, notVisible: readonly NotVisible[]): string[] => {
  const placeIn = placesIn(graph);
  return [...Map.groupBy(notVisible, ({ kind }) => kind)].map(([kind, entries]) => {
    const refused = entries.find(({ group }) => group === "");
    if (refused) return refused.message;
    const paths = entries.map(({ group }) => placeIn(group));
    const more = paths.length > PATHS_SHOWN ? ` and ${paths.length - PATHS_SHOWN} more groups` : "";
    return `${resources[kind].words} of ${paths.slice(0, PATHS_SHOWN).join(", ")}${more}`;
  });
};
