// What people, invites and holders of static keys gain and lose.
import type { PeopleReview } from "../../review/report.ts";
import { differences } from "../differences.ts";
import { changesOf, serviceText } from "../review/blocks.ts";
import type { CapabilitySets } from "./capability-sets.ts";
import { markDifferences } from "./identity.ts";
import { html, type Markup } from "./markup.ts";
import type { Section } from "./page.ts";
import { listSection } from "./section.ts";

export const peopleSection = (people: readonly PeopleReview[], sets: CapabilitySets): Section | false =>
  listSection(
    "people",
    "People, invites and static keys: what they gain and lose",
    people.map((one) => {
      const { subject, groupName, before, after } = one;
      const rows = changesOf(one).map(
        ({ sign, place, role, capabilities }) =>
          html`<li>${sign === "+" ? html`<b class="gain">gains</b>` : html`<b class="loss">loses</b>`} at <bdi class="path">${place}</bdi> and below, through <b><bdi>${role}</bdi></b>: ${sets.show(role, capabilities)}</li>`,
      );
      return html`<b><bdi>${subject}</bdi></b> <small>in ${groupName}${serviceText(one)}</small>${who(before, after)}${rows.length > 0 && html`<ul>${rows}</ul>`}`;
    }),
  );

const who = (before: string | null, after: string | null): Markup | false => {
  if (before === after) return false;
  if (before === null) return html`<p>new: <bdi>${after ?? ""}</bdi></p>`;
  if (after === null) return html`<p>ends: <bdi>${before ?? ""}</bdi></p>`;
  const marked = differences(before, after);
  return html`<p>before: <bdi>${markDifferences("del", marked.before)}</bdi></p><p>after: <bdi>${markDifferences("ins", marked.after)}</bdi></p>`;
};
