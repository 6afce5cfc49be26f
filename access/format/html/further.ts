// The parts of a review beside identities.
import type { DeletedGroup, Report } from "../../review/report.ts";
import { blockedTitle, rulesParts, TITLES } from "../review/sections.ts";
import { html, type Markup } from "./markup.ts";
import type { Section } from "./page.ts";

type Sections = readonly (Section | false)[];

/** What the review cannot tell comes first: a reader must not take silence for safety. */
export const limitSections = ({ unknown, blocked, notVisible }: Report): Sections => [
  listSection(
    "unknown",
    TITLES.unknown,
    unknown.map(({ subject, property, message }) => {
      const of = property !== undefined && html` <code>${property}</code>`;
      return html`${subject !== "" && html`<b><bdi>${subject}</bdi></b>${of}: `}${message}`;
    }),
  ),
  listSection(
    "blocked",
    blockedTitle(blocked),
    blocked.map(
      ({ subject, message, contents }) => html`<b><bdi>${subject}</bdi></b>: ${message}${contentsOf(contents)}`,
    ),
  ),
  listSection(
    "not-visible",
    TITLES.notVisible,
    notVisible.map(({ groupName, message }) => html`<bdi class="path">${groupName}</bdi>: ${message}`),
  ),
];

export const rulesSection = (report: Report): Section | false =>
  listSection(
    "rules",
    TITLES.rules,
    rulesParts(report).map(
      (parts) => html`${parts.map((part) => (typeof part === "string" ? part : html`<bdi>${part.quoted}</bdi>`))}`,
    ),
  );

export const deletionSections = ({ deletedGroups, forceDestroy }: Report): Sections => [
  listSection(
    "deleted",
    TITLES.deletedGroups,
    deletedGroups.map(({ groupName, contents }) => html`<b><bdi>${groupName}</bdi></b>${contentsOf(contents)}`),
  ),
  listSection(
    "forced",
    TITLES.forceDestroy,
    forceDestroy.map(({ resource, kind, name, deletes, contents }) => {
      const when = deletes ? "this change deletes it" : "a later change may delete it";
      return html`${kind} <b><bdi>${name}</bdi></b> (resource ${resource}): ${when}, with what no resource manages${contentsOf(contents)}`;
    }),
  ),
];

export const recordSections = ({ adopted, undeclared, expiringKeys }: Report): Sections => [
  listSection(
    "adopted",
    TITLES.adopted,
    adopted.map(({ resource, kind, name, uid, deletedLater, interruptedAt }) => {
      const later = deletedLater && ", which deletes it when it is removed";
      return html`${kind} <b><bdi>${name}</bdi></b> <small>${uid ?? ""}</small> becomes resource ${resource}${interruptedAt !== undefined && html` (created by an earlier run at ${interruptedAt})`}${later}`;
    }),
  ),
  listSection(
    "undeclared",
    TITLES.undeclared,
    undeclared.map(
      ({ identityName, role, groupName }) =>
        html`<b><bdi>${identityName}</bdi></b> has <bdi>${role}</bdi> at <bdi class="path">${groupName}</bdi>`,
    ),
  ),
  listSection(
    "expiring",
    TITLES.expiringKeys,
    expiringKeys.map(
      ({ name, groupName, expirationTime }) =>
        html`<b><bdi>${name}</bdi></b> in <bdi class="path">${groupName}</bdi>: ${expirationTime}`,
    ),
  ),
];

/** A longer list is folded. */
export const OPEN_MAX = 20;

/** What the search finds entry by entry. */
export const listOf = (items: readonly Markup[]): Markup =>
  html`<ul class="rows find">${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;

/** A list as a section; false when it is empty. */
export const listSection = (id: string, title: string, items: readonly Markup[]): Section | false => {
  if (items.length === 0) return false;
  const list = listOf(items);
  const isShort = items.length <= OPEN_MAX;
  return {
    id,
    title,
    body: isShort ? list : html`<details><summary>${items.length} entries</summary>${list}</details>`,
  };
};

const contentsOf = (contents: DeletedGroup["contents"]): Markup | false =>
  contents.length > 0 &&
  html`<ul>${contents.map(({ kind, name, uid }) => html`<li>${kind} <b><bdi>${name}</bdi></b> <small>${uid ?? ""}</small></li>`)}</ul>`;
