// The lists of a report as sections of a page.

import type { Report } from "../../review/report.ts";
import type { Part, Section as ReportSection } from "../review/section.ts";
import { TITLES } from "../review/sections.ts";
import { html, type Markup } from "./markup.ts";
import type { Section } from "./page.ts";

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

export const reportSection = ({ id, title, items }: ReportSection): Section | false =>
  listSection(
    id,
    title,
    items.map(({ parts }) => html`${parts.map(partMarkup)}`),
  );

/** Each entry names its resource and property. */
export const unknownSection = ({ unknown }: Report): Section | false =>
  listSection(
    "unknown",
    TITLES.unknown,
    unknown.map(({ subject, property, message }) => {
      const of = property !== undefined && html` <code>${property}</code>`;
      return html`${subject !== "" && html`<b><bdi>${subject}</bdi></b>${of}: `}${message}`;
    }),
  );

export const partMarkup = (part: Part): Markup => {
  if (typeof part === "string") return html`${part}`;
  if ("quoted" in part) return html`<bdi>${part.quoted}</bdi>`;
  if ("lines" in part) {
    const [first, ...more] = part.lines;
    const rest = more.map((line) => html`<li><bdi>${line}</bdi></li>`);
    return html`<bdi>${first}</bdi>${rest.length > 0 && html`<ul>${rest}</ul>`}`;
  }
  const items = part.contents.map(
    ({ kind, name, uid }) => html`<li>${kind} <b><bdi>${name}</bdi></b> <small>${uid ?? ""}</small></li>`,
  );
  return html`<ul>${items}</ul>`;
};
