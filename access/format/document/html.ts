// A document as one page.

import { type CapabilitySets, capabilitySets } from "../html/capability-sets.ts";
import { html, type Markup, type Section as PageSection, pageOf } from "../html/page.ts";
import { pathGraph } from "../html/path-graph.ts";
import { docsAddress, pathOfRule } from "../markdown-text.ts";
import { countText } from "../words.ts";
import type { Document, Item, Line, Mark, Part, Section } from "./document.ts";

/** Parts that only a page has. */
export interface PageExtras {
  /** the content that the search box searches */
  search?: string;
  /** below the facts */
  lead?: Markup;
  /** before all sections */
  opening?: PageSection;
  /** behind the main section */
  more?: Section;
}

/** A longer list is folded. */
const LIST_OPEN_MAX = 20;
/** More blocks than these are folded to one line each. */
const BLOCKS_OPEN_MAX = 12;
/** Even among many findings, a rule with few of them shows them unfolded: one may be the most important. */
const RULE_OPEN_MAX = 5;

export const documentAsHtml = (
  { title, facts, sections, foot }: Document,
  { search = "entries", lead, opening, more }: PageExtras = {},
): string => {
  const sets = capabilitySets();
  const shown = sections.map((one) => sectionMarkup(one, sets));
  const main = 1 + sections.findLastIndex(({ isBlocks }) => isBlocks);
  const names = facts.map(({ name, value }) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`);
  return pageOf({
    title: title.map((part) => (typeof part === "string" ? part : "quoted" in part ? part.quoted : "")).join(""),
    lead: html`${names.length > 0 && html`<dl class="origin">${names}</dl>\n`}${lead}${foot !== "" && html`<p>${foot}</p>`}`,
    search,
    opening,
    sections: [
      ...shown.slice(0, main),
      more !== undefined && sectionMarkup(more, sets),
      ...shown.slice(main),
      sets.section(),
    ],
  });
};

const sectionMarkup = ({ id, title, items, isBlocks, none }: Section, sets: CapabilitySets): PageSection | false => {
  const partsMarkup = (parts: readonly Part[], sign?: "+" | "-"): Markup => {
    const shown = parts.map((part, i): Markup => {
      if (typeof part === "string") return html`${part}`;
      if ("quoted" in part) return html`<bdi>${part.quoted}</bdi>`;
      if ("name" in part) {
        const name = html`<b><bdi class="path">${part.name}</bdi></b>`;
        return part.to === undefined ? name : html`<a href="#${part.to}">${name}</a>`;
      }
      if ("differs" in part)
        return html`<bdi>${part.differs.map(({ text, differs }) => (differs ? DIFFERS[sign ?? "+"](text) : html`${text}`))}</bdi>`;
      if ("capabilities" in part) return html`${i > 0 && ": "}${sets.show(part.role, part.capabilities)}`;
      if ("list" in part) return html`${part.list.map((own, at) => html`${at > 0 && ", "}${partsMarkup(own)}`)}`;
      if ("rule" in part)
        return html`<a class="rule" href="${docsAddress(pathOfRule(part.rule))}"><code>${part.rule}</code></a>`;
      if ("mark" in part) return MARKS[part.mark];
      if ("tag" in part) return html`<strong class="tag">${part.tag}</strong>`;
      const lines = JSON.stringify(part.json, undefined, 2).split("\n");
      return html`<details><summary>As JSON</summary><pre tabindex="0">${lines.map((one) => html`${one}\n`)}</pre></details>`;
    });
    return html`${shown}`;
  };

  const linesMarkup = (lines: readonly Line[] = [], kind = "parts"): Markup | false =>
    lines.length > 0 &&
    html`<ul class="${kind}">${lines.map(
      ({ parts, sign, lines: below }) =>
        html`<li>${sign && SIGNS[sign]}${partsMarkup(parts, sign)}${linesMarkup(below)}</li>`,
    )}</ul>`;

  const blockMarkup = ({ parts, lines, path, summary }: Item, i: number): Markup =>
    html`<details class="identity" id="${id}-${i + 1}"${items.length <= BLOCKS_OPEN_MAX && html` open`}><summary class="head">${partsMarkup(parts)}${summary !== undefined && html`<small>: ${summary}</small>`}</summary>
${path && html`<div class="way">${pathGraph(path)}</div>\n`}${linesMarkup(lines, "rows")}</details>
`;

  const listMarkup = (own: readonly Item[]): Markup =>
    html`<ul class="rows find">${own.map(({ parts, lines }) => html`<li>${partsMarkup(parts)}${linesMarkup(lines)}</li>\n`)}</ul>`;

  if (items.length === 0) return none !== undefined && { id, title, body: html`<p>${none}</p>` };
  if (isBlocks) return { id, title, body: html`${items.map(blockMarkup)}` };
  if (items.length <= LIST_OPEN_MAX) return { id, title, body: listMarkup(items) };
  return { id, title, body: foldedMarkup(items, listMarkup) };
};

/** A reader sees at least the rules, and which of them deny. */
const foldedMarkup = (items: readonly Item[], listMarkup: (own: readonly Item[]) => Markup): Markup => {
  const rules = Map.groupBy(items, ({ parts }) => find(parts, "rule")?.rule);
  if (rules.has(undefined))
    return html`<details><summary>${items.length} entries</summary>${listMarkup(items)}</details>`;
  const folds = [...rules].map(([rule, own]) => {
    const denied = own.filter(({ parts }) => find(parts, "mark")?.mark === "denied").length;
    const tag = denied > 0 && html` <strong class="tag">${denied} denied</strong>`;
    const open = own.length <= RULE_OPEN_MAX && html` open`;
    return html`<details${open}><summary><code class="rule">${rule}</code> ${countText(own.length, "finding")}${tag}</summary>${listMarkup(own)}</details>\n`;
  });
  return html`${folds}`;
};

type PartOf<K extends string> = Extract<Part, Readonly<Record<K, unknown>>>;

const find = <K extends "rule" | "mark">(parts: readonly Part[], key: K): PartOf<K> | undefined =>
  parts.find((part): part is PartOf<K> => typeof part === "object" && key in part);

const SIGNS = { "+": html`<b class="gain">+</b> `, "-": html`<b class="loss">−</b> ` };

const DIFFERS = {
  "+": (text: string) => html`<ins class="differs">${text}</ins>`,
  "-": (text: string) => html`<del class="differs">${text}</del>`,
};

const MARKS: Readonly<Record<Mark, Markup>> = {
  denied: html`<strong class="tag">denied</strong>`,
  allowed: html`<em class="tag">allowed</em>`,
  open: html``,
};
