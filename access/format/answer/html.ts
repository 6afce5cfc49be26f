// An answer as one page: the map of who may do what where; then by identity, the groups and the roles through which it acts there.
import { type AccessGraph, lineageOf, type NodeId } from "../../graph/graph.ts";
import type { Answer, Held } from "../../query/answer.ts";
import { type CapabilitySets, capabilitySets } from "../html/capability-sets.ts";
import { mapSection } from "../html/map.ts";
import { html, type Markup } from "../html/markup.ts";
import { pageOf } from "../html/page.ts";
import { listSection } from "../html/section.ts";
import { mapOf, type Side } from "../map/model.ts";
import {
  type HeldBy,
  hiddenLines,
  holdingsIn,
  NO_GRANTS,
  NO_VISIBLE_GRANTS,
  NOT_READABLE,
  titleOf,
  totalsOf,
  whoText,
} from "./rows.ts";

/** More identities than these are folded to one line each. */
const OPEN_MAX = 12;

export const answerAsHtml = (answer: Answer): string => {
  const sets = capabilitySets();
  const held = holdingsIn(answer);
  const hidden = hiddenLines(answer.graph, answer.notVisible);
  const blocks = held.map((one, i) => block(one, i, held.length <= OPEN_MAX, sets));
  const links = new Map(held.map(({ id }, i) => [id, `#${addressOf(i)}`]));
  const none = html`<p>${hidden.length === 0 ? NO_GRANTS : NO_VISIBLE_GRANTS}</p>`;
  return pageOf({
    title: titleOf(answer),
    lead: html`<p>${totalsOf(held)}. A role holds in its group and in every group below it.</p>`,
    search: "identities, groups and roles",
    opening: mapSection(mapOf({ after: sideOf(answer) }), {
      linkOf: (row) => links.get(row),
      note:
        hidden.length > 0 && html`<p class="note">The map lacks what is <a href="#not-visible">not visible</a>.</p>`,
    }),
    sections: [
      listSection(
        "not-visible",
        "Not visible to the caller, so access may be missing here",
        hidden.map((line) => html`${line}`),
      ),
      { id: "identities", title: "What each of them may do", body: blocks.length > 0 ? html`${blocks}` : none },
      sets.section(),
    ],
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

const addressOf = (index: number): string => `identity-${index + 1}`;

const block = (held: HeldBy, index: number, isOpen: boolean, sets: CapabilitySets): Markup => {
  const { name, uid, path, places } = held;
  return html`<details class="identity" id="${addressOf(index)}"${isOpen && html` open`}><summary class="head"><bdi class="path">${name}</bdi> <small>in ${path}${uid !== undefined && `, ${uid}`}</small></summary>
<p>${whoText(held)}</p>
<ul class="rows">${places.map(
    (place) =>
      html`<li>at <bdi class="path">${place.path}</bdi> and below, through <b><bdi>${place.role}</bdi></b>: ${
        place.capabilities.length === 0 ? NOT_READABLE : sets.show(place.role, place.capabilities)
      }</li>`,
  )}</ul></details>
`;
};
