// An answer as one page: by identity, the groups and the roles through which it acts there.
import type { Answer } from "../../query/answer.ts";
import { type CapabilitySets, capabilitySets } from "../html/capability-sets.ts";
import { html, type Markup } from "../html/markup.ts";
import { pageOf } from "../html/page.ts";
import { listSection } from "../html/section.ts";
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
  const blockOf = (one: HeldBy) => block(one, held.length <= OPEN_MAX, sets);
  const blocks = held.filter(({ isPeople }) => !isPeople).map(blockOf);
  const people = held.filter(({ isPeople }) => isPeople).map(blockOf);
  const none = html`<p>${hidden.length === 0 ? NO_GRANTS : NO_VISIBLE_GRANTS}</p>`;
  return pageOf({
    title: titleOf(answer),
    lead: html`<p>${totalsOf(held)}. A role holds in its group and in every group below it.</p>`,
    search: "identities, groups and roles",
    sections: [
      listSection(
        "not-visible",
        "Not visible to the caller, so access may be missing here",
        hidden.map((line) => html`${line}`),
      ),
      { id: "identities", title: "Identities", body: blocks.length > 0 ? html`${blocks}` : none },
      people.length > 0 && { id: "people", title: "People and invites, without an identity", body: html`${people}` },
      sets.section(),
    ],
  });
};

const block = (held: HeldBy, isOpen: boolean, sets: CapabilitySets): Markup => {
  const { name, uid, path, places } = held;
  return html`<details class="identity"${isOpen && html` open`}><summary class="head"><bdi class="path">${name}</bdi> <small>in ${path}${uid !== undefined && `, ${uid}`}</small></summary>
<p>${whoText(held)}</p>
<ul class="rows">${places.map(
    (place) =>
      html`<li>at <bdi class="path">${place.path}</bdi> and below, through <b><bdi>${place.role}</bdi></b>: ${
        place.capabilities.length === 0 ? NOT_READABLE : sets.show(place.role, place.capabilities)
      }</li>`,
  )}</ul></details>
`;
};
