// An answer by identity and group, with names, as people read it.

import { worstFirst } from "../graph/danger.ts";
import { type AccessGraph, lineageOf, type NodeId, nameOf, placesIn } from "../graph/graph.ts";
import { isPeople, type Subject } from "../graph/people.ts";
import type { Answer, HeldBinding } from "../query/answer.ts";
import { assumptionOf } from "../review/assume.ts";
import { type Document, type Item, line, type Part, quotedItems, say, section } from "./document/document.ts";
import { documentAsHtml } from "./document/html.ts";
import { mapSection } from "./html/map.ts";
import { mapOf, type Side } from "./html/map-model.ts";
import { html } from "./html/page.ts";
import { countText, hiddenLines, organizationPartsOf } from "./words.ts";

interface HeldBy {
  /** of the identity; of people, of the record that gives the access */
  id: NodeId;
  name: string;
  /** only if another identity has the name */
  uid?: string | undefined;
  /** who can assume it, in words; for people, who they are */
  assumable: string;
  /** people or invites: they have no identity */
  isPeople?: true;
  /** path of the group that contains the identity */
  path: string;
  places: {
    /** of the group of the binding, as `placesIn` writes it */
    path: string;
    role: string;
    capabilities: HeldBinding["capabilities"];
  }[];
}

export const answerDocument = (answer: Answer, held = holdingsIn(answer)): Document => {
  const { graph, question, notVisible } = answer;
  const { identity, group, capability } = question;
  const hidden = hiddenLines(graph, notVisible);
  const none = hidden.length === 0 ? "No binding grants this." : "No binding that you can see grants this.";
  return {
    title: [
      ...say`Access${identity && say` of ${identity.name}`}${group && say` at ${placesIn(graph)(group.id)}`}`,
      ...say`${organizationPartsOf(graph)}${capability !== undefined && say`: ${capability}`}`,
    ],
    facts: [],
    sections: [
      section(
        "identities",
        "What each of them may do",
        held.map((one) => heldItem(one, capability !== undefined)),
        { isBlocks: true, isMain: true, none },
      ),
      section("not-visible", "Not visible to you, so access may be missing here", quotedItems(hidden)),
    ],
    foot: held.length === 0 ? none : totalsOf(held),
    isWrapped: true,
  };
};

const heldItem = ({ name, uid, path, places, assumable, isPeople }: HeldBy, isOneCapability: boolean): Item => ({
  isOpen: true,
  parts: say`${{ name }}${path !== "" && say`  in ${path}`}${uid !== undefined && say`  ${uid}`}`,
  lines: [
    isPeople ? line`${assumable}` : line`assumed by ${assumable}`,
    ...places.map((place) => {
      const { role, capabilities } = place;
      const list: Part[] = capabilities ? [{ capabilities, role }] : [`  (${NOT_READABLE})`];
      const isShown = !capabilities || !isOneCapability;
      return { ...line`${place.path}  through ${{ name: role }}${isShown && list}`, isWhole: true as const };
    }),
  ],
});

/** The worst first, for people and identities alike; and for each, the groups where it may do the worst. */
const holdingsIn = ({ graph, held, people }: Answer) =>
  worstFirst([...holdingsOf(graph, held), ...holdingsOf(people.graph, people.held)], ({ name, uid, places }) => ({
    // The first of its places is the worst.
    capabilities: places[0]?.capabilities ?? "unknown",
    place: places[0]?.path,
    texts: [name, uid],
  }));

const holdingsOf = (graph: AccessGraph, held: readonly HeldBinding[]): HeldBy[] => {
  const placeIn = placesIn(graph);
  const byName = Map.groupBy(graph.identities.values(), ({ name }) => name);
  const holderOf = (id: NodeId): Omit<HeldBy, "places"> => {
    const node = graph.identities.get(id);
    if (!node) return { id, name: id, path: "", assumable: NOT_ASSUMABLE };
    const { name, uid, group, relationship } = node;
    const path = placeIn(group);
    if (isPeople(node)) return { id: node.record, name, path, assumable: node.who, isPeople: true };
    const isTwin = (byName.get(name)?.length ?? 0) > 1;
    return {
      id,
      name,
      uid: isTwin ? (uid ?? id) : undefined,
      path,
      assumable: assumptionOf(relationship)?.text ?? NOT_ASSUMABLE,
    };
  };
  return [...Map.groupBy(held, ({ identity }) => identity)].map(([id, own]) => ({
    ...holderOf(id),
    places: worstFirst(
      own.map(({ group, role, capabilities }) => ({
        path: placeIn(group),
        role: nameOf(graph.roles, role),
        capabilities,
      })),
      ({ capabilities = "unknown", path: place, role }) => ({ capabilities, place, texts: [role] }),
    ),
  }));
};

const NOT_ASSUMABLE = "no workload that you can see: this cannot be read, or the identity cannot be assumed";

/** `2 identities, 3 bindings; 1 subject without an identity` */
const totalsOf = (held: readonly HeldBy[]) => {
  const identities = held.filter(({ isPeople }) => !isPeople);
  const bindings = identities.reduce((sum, { places }) => sum + places.length, 0);
  const people = held.length - identities.length;
  const others = people === 0 ? "" : `; ${countText(people, "subject")} without an identity`;
  return `${countText(identities.length, "identity")}, ${countText(bindings, "binding")}${others}`;
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

/** The graph of the question: the bindings in the answer, and the groups that they affect. */
const sideOf = ({ graph, question, held, people }: Answer): Side => {
  const { capability, group } = question;
  const isShown = (id: NodeId) =>
    group === undefined || lineageOf(graph, id).includes(group.id) || lineageOf(graph, group.id).includes(id);
  const roles = new Map(
    [...graph.roles].map(([id, role]) => {
      const capabilities = role.capabilities.filter((one) => (capability ?? one) === one);
      return [id, { ...role, capabilities }];
    }),
  );
  const part = <G extends AccessGraph>(of: G, own: readonly HeldBinding[]): G => ({
    ...of,
    groups: new Map([...of.groups].filter(([id]) => isShown(id))),
    roles,
    bindings: new Map(own.map((one) => [one.id, one])),
  });
  return { graph: part(graph, held), people: part(people.graph, people.held) };
};

// An answer as JSON: uids, and the names of roles.

export const answerJson = ({ graph, held, people, notVisible }: Answer) => ({
  // The identities in the answer; who can assume them, as in the API's JSON and in words.
  identities: [...new Set(held.map(({ identity }) => identity))].flatMap((identity) => {
    const node = graph.identities.get(identity);
    if (!node) return [];
    const { name, group, relationship } = node;
    const assumedBy = assumptionOf(relationship)?.text ?? null;
    return [{ identity, name, group, assumable: relationship, assumedBy }];
  }),
  // One for each binding and capability.
  grants: held.flatMap((one) =>
    grantsOf(graph, one).map((grant) => ({ identity: one.identity, ...grant, binding: one.id })),
  ),
  // Bindings whose role cannot be read.
  unknown: held.flatMap((one) =>
    unknownOf(graph, one).map(({ message, ...place }) => ({
      identity: one.identity,
      ...place,
      binding: one.id,
      message,
    })),
  ),
  // Who has access without an identity; the uid belongs to the identity provider, the external group's mapping or the invite.
  people: [...Map.groupBy(people.held, ({ identity }) => identity)].flatMap(([id, own]) => {
    const { name: subject, recordUid: uid, who } = people.graph.identities.get(id) as Subject;
    const grants = own.flatMap((one) => grantsOf(graph, one));
    return { subject, uid, who, grants, unknown: own.flatMap((one) => unknownOf(graph, one)) };
  }),
  notVisible,
});

const grantsOf = ({ roles }: AccessGraph, { group, role, capabilities = [] }: HeldBinding) =>
  capabilities.map((capability) => ({ group, capability, role: nameOf(roles, role) }));

const unknownOf = ({ roles }: AccessGraph, { group, role: id, capabilities }: HeldBinding) => {
  const role = nameOf(roles, id);
  const message = `the capabilities of role ${role} cannot be read: roles.list is needed where it is defined`;
  return capabilities === undefined ? [{ group, role, message }] : [];
};
