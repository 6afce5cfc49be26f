// What people, invites and holders of static keys gain and lose.
import type { PeopleReview } from "../../review/report.ts";
import { differences } from "../differences.ts";
import { changesOf, peopleFactOf, placeOf, serviceText } from "../review/blocks.ts";
import { type IdentityOptions, markDifferences, summaryOf } from "./identity.ts";
import { html, type Markup } from "./markup.ts";

export const peopleBlock = (one: PeopleReview, { id, isOpen, sets }: IdentityOptions): Markup => {
  const { subject, groupName, before, after } = one;
  const fact = peopleFactOf(one);
  const tag = fact !== "" && html` <strong class="tag">${fact}</strong>`;
  const head = html`<bdi class="path">${subject}</bdi>${tag} <small>in <bdi>${placeOf(groupName, groupName)}${serviceText(one)}</bdi>: ${summaryOf(one)}</small>`;
  const rows = changesOf(one).map(
    ({ sign, place, role, capabilities }) =>
      html`<li>${sign === "+" ? html`<b class="gain">gains</b>` : html`<b class="loss">loses</b>`} at <bdi class="path">${place}</bdi> and below, through <b><bdi>${role}</bdi></b>: ${sets.show(role, capabilities)}</li>`,
  );
  return html`<details class="identity" id="${id}"${isOpen && html` open`}><summary class="head">${head}</summary>
${who(before, after)}${rows.length > 0 && html`<ul class="rows">${rows}</ul>`}</details>
`;
};

const who = (before: string | null, after: string | null): Markup | false => {
  if (before === after) return false;
  if (before === null) return html`<p>new: <bdi>${after ?? ""}</bdi></p>`;
  if (after === null) return html`<p>ends: <bdi>${before ?? ""}</bdi></p>`;
  const marked = differences(before, after);
  return html`<p>before: <bdi>${markDifferences("del", marked.before)}</bdi></p><p>after: <bdi>${markDifferences("ins", marked.after)}</bdi></p>`;
};
