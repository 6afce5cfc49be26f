// An answer by identity and group, with names, as people read it.

import { getOrInsert } from "../../schema/index.ts";
import { byEffect, type Capabilities, worstFirst } from "../graph/danger.ts";
import { type AccessGraph, type BindingNode, lineageOf, type NodeId, nameOf, placesIn } from "../graph/graph.ts";
import type { Answer, Held } from "../query/answer.ts";
import { assumptionOf } from "../review/assume.ts";
import { type Document, type Item, line, type Part, quote, quotedItems } from "./document/document.ts";
import { documentAsHtml } from "./document/html.ts";
import { mapSection } from "./html/map.ts";
import { mapOf, type Side } from "./html/map-model.ts";
import { html } from "./html/page.ts";
import { countText, hiddenLines, organizationPartsOf } from "./words.ts";

interface HeldThere {
  /** path of the group of the binding, as `placesIn` writes it */
  path: string;
  role: string;
  /** the worst first; empty: the role cannot be read */
  capabilities: string[];
}

interface HeldBy {
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

export const answerDocument = (answer: Answer, held = holdingsIn(answer)): Document => {
  const { graph, question, notVisible } = answer;
  const hidden = hiddenLines(graph, notVisible);
  const none = hidden.length === 0 ? "No binding grants this." : "No binding that you can see grants this.";
  return {
    title: [
      ...(question.identity ? ["Access of ", quote(question.identity.name)] : ["Access"]),
      ...(question.group ? [" at ", quote(placesIn(graph)(question.group.id))] : []),
      ...organizationPartsOf(graph),
      ...(question.capability ? [": ", quote(question.capability)] : []),
    ],
    facts: [],
    sections: [
      {
        ...{ id: "identities", title: "What each of them may do", isBlocks: true, isMain: true },
        items: held.map((one) => heldItem(one, question.capability !== undefined)),
        none,
      },
      {
        ...{ id: "not-visible", title: "Not visible to you, so access may be missing here" },
        items: quotedItems(hidden),
      },
    ],
    foot: held.length === 0 ? none : totalsOf(held),
    isWrapped: true,
  };
};

const heldItem = ({ name, uid, path, places, assumable, isPeople }: HeldBy, isOneCapability: boolean): Item => ({
  isOpen: true,
  parts: [{ name }, ...(path === "" ? [] : ["  in ", quote(path)]), ...(uid === undefined ? [] : ["  ", quote(uid)])],
  lines: [
    isPeople ? line(quote(assumable)) : line("assumed by ", quote(assumable)),
    ...places.map((place) => {
      const { role, capabilities } = place;
      const list: Part[] = capabilities.length === 0 ? [`  (${NOT_READABLE})`] : [{ capabilities, role }];
      const isShown = capabilities.length === 0 || !isOneCapability;
      return {
        ...line(quote(place.path), "  through ", { name: role }, ...(isShown ? list : [])),
        isWhole: true as const,
      };
    }),
  ],
});

/** The worst first, people like identities; and of each, the groups where it may do the worst. */
const holdingsIn = (answer: Answer): HeldBy[] =>
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
    const places = getOrInsert(byIdentity, identity, () => new Map<NodeId, HeldThere>());
    const place = () => ({ path: placeIn(group), role: nameOf(graph.roles, role), capabilities: [] });
    return getOrInsert(places, binding, place);
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
    return { ...identityOf(id), places: inOrder };
  });
};

const identitiesIn = (
  graph: AccessGraph,
  placeIn: (group: NodeId) => string,
): ((id: NodeId) => Omit<HeldBy, "places">) => {
  const byName = Map.groupBy(graph.identities.values(), ({ name }) => name);
  return (id) => {
    const node = graph.identities.get(id);
    if (!node) return { id, name: id, path: "", assumable: NOT_ASSUMABLE };
    const { name, uid, group, relationship } = node;
    if ("who" in node && "record" in node)
      return { id: String(node.record), name, path: placeIn(group), assumable: String(node.who), isPeople: true };
    const isTwin = (byName.get(name)?.length ?? 0) > 1;
    const assumable = assumptionOf(relationship)?.text ?? NOT_ASSUMABLE;
    return { id, name, ...(isTwin && { uid: uid ?? id }), path: placeIn(group), assumable };
  };
};

const NOT_ASSUMABLE = "no workload that you can see: this cannot be read, or the identity cannot be assumed";

/** `2 identities, 3 bindings; 1 subject without an identity` */
const totalsOf = (held: readonly HeldBy[]): string => {
  const identities = held.filter(({ isPeople }) => !isPeople);
  const bindings = identities.reduce((sum, { places }) => sum + places.length, 0);
  const people = held.length - identities.length;
  const others = people === 0 ? "" : `; ${countText(people, "subject")} without an identity`;
  return `${countText(identities.length, "identity", "identities")}, ${countText(bindings, "binding")}${others}`;
};

export const NOT_READABLE = "unknown: the role cannot be read";

// An answer as one page: the map of who may do what where; then by identity, the groups and the roles through which it acts there.

export const answerAsHtml = (answer: Answer): string => {
  const held = holdingsIn(answer);
  const links = new Map(held.map(({ id }, i) => [id, `#identities-${i + 1}`]));
  return documentAsHtml(answerDocument(answer, held), {
    search: "identities, groups and roles",
    lead: html`<p>A role holds in its group and in every group below it.</p>`,
    opening: mapSection(mapOf({ after: sideOf(answer) }), {
      linkOf: (row) => links.get(row),
      note:
        answer.notVisible.length > 0 &&
        html`<p class="note">The map lacks what is <a href="#not-visible">not visible</a>.</p>`,
    }),
  });
};

/** The graph of the question: the bindings in the answer, and of the groups those that it is about. */
const sideOf = ({ graph, question, grants, unknown, people }: Answer): Side => {
  const { capability, group } = question;
  const isShown = ({ id }: { id: NodeId }): boolean =>
    group === undefined || lineageOf(graph, id).includes(group.id) || lineageOf(graph, group.id).includes(id);
  const roles = [...graph.roles].map(
    ([id, role]) =>
      [id, { ...role, capabilities: role.capabilities.filter((one) => (capability ?? one) === one) }] as const,
  );
  const part = <G extends AccessGraph>(
    of: G,
    { grants: own, unknown: hidden }: Pick<Held, "grants" | "unknown">,
  ): G => {
    const ids = new Set([...own.map(({ binding }) => binding), ...hidden.map(({ id }) => id)]);
    return {
      ...of,
      groups: new Map([...of.groups].filter(([, one]) => isShown(one))),
      roles: new Map(roles),
      bindings: new Map([...of.bindings].filter(([id]) => ids.has(id))),
    };
  };
  return { graph: part(graph, { grants, unknown }), people: part(people.graph, people) };
};

// An answer as JSON: uids, and the names of roles.

export const answerJson = ({ graph, grants, unknown, people, notVisible }: Answer) => ({
  // Those that hold something of it; who can assume them, as the API's JSON has it and in words.
  identities: [...new Set([...unknown, ...grants].map(({ identity }) => identity))].flatMap((identity) => {
    const node = graph.identities.get(identity);
    if (!node) return [];
    const { name, group, relationship } = node;
    const assumedBy = assumptionOf(relationship)?.text ?? null;
    return [{ identity, name, group, assumable: relationship, assumedBy }];
  }),
  // One for each binding and capability.
  grants: grants.map(({ identity, group, capability, role, binding }) => ({
    identity,
    group,
    capability,
    role: roleName(graph, role),
    binding,
  })),
  // Bindings whose role cannot be read.
  unknown: unknown.map(({ id, identity, group, role }: BindingNode) => ({
    identity,
    group,
    role: roleName(graph, role),
    binding: id,
    message: notReadable(graph, role),
  })),
  // Who has access without an identity; the uid is that of the identity provider, the external group's mapping or the invite.
  people: [...new Set([...people.unknown, ...people.grants].map(({ identity }) => identity))]
    .flatMap((id) => people.graph.identities.get(id) ?? [])
    .map(({ id, name, recordUid, who }) => ({
      subject: name,
      uid: recordUid,
      who,
      grants: people.grants
        .filter(({ identity }) => identity === id)
        .map(({ group, capability, role }) => ({ group, capability, role: roleName(graph, role) })),
      unknown: people.unknown
        .filter(({ identity }) => identity === id)
        .map(({ group, role }) => ({ group, role: roleName(graph, role), message: notReadable(graph, role) })),
    }))
    .filter((one) => one.grants.length + one.unknown.length > 0),
  notVisible,
});

const notReadable = (graph: AccessGraph, role: NodeId): string =>
  `the capabilities of role ${roleName(graph, role)} cannot be read: roles.list is needed where it is defined`;

const roleName = ({ roles }: AccessGraph, role: NodeId): string => nameOf(roles, role);
