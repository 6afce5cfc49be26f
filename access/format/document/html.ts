// A document as one page.

import { isWrite } from "../../graph/danger.ts";
import { html, type Markup, type Section as PageSection, pageOf } from "../html/page.ts";
import { docsAddress, pathOfRule } from "../markdown-text.ts";
import { countText } from "../words.ts";
import type { Document, Item, Line, Mark, Part, PathText, Section } from "./document.ts";

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

const sectionMarkup = (
  { id, title, items, isBlocks, none }: Section,
  sets: ReturnType<typeof capabilitySets>,
): PageSection | false => {
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

  const blockMarkup = ({ parts, lines, path, summary }: Item, i: number) =>
    html`<details class="identity" id="${id}-${i + 1}"${items.length <= BLOCKS_OPEN_MAX && html` open`}><summary class="head">${partsMarkup(parts)}${summary !== undefined && html`<small>: ${summary}</small>`}</summary>
${path && html`<div class="way">${pathGraph(path)}</div>\n`}${linesMarkup(lines, "rows")}</details>
`;

  const listMarkup = (own: readonly Item[]) =>
    html`<ul class="rows find">${own.map(({ parts, lines }) => html`<li>${partsMarkup(parts)}${linesMarkup(lines)}</li>\n`)}</ul>`;

  if (items.length === 0) return none !== undefined && { id, title, body: html`<p>${none}</p>` };
  if (isBlocks) return { id, title, body: html`${items.map(blockMarkup)}` };
  if (items.length <= LIST_OPEN_MAX) return { id, title, body: listMarkup(items) };
  return { id, title, body: foldedMarkup(items, listMarkup) };
};

/** A reader sees at least the rules, and which of them deny. */
const foldedMarkup = (items: readonly Item[], listMarkup: (own: readonly Item[]) => Markup) => {
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

// Lists of capabilities. A built-in role has up to two hundred, which a thousand identities may gain. So the page prints a long list once,
// at its end, and links to it.

const INLINE_MAX = 8;

const capabilitySets = () => {
  const sets = new Map<string, { id: string; role: string; capabilities: readonly string[] }>();
  return {
    /** A short list, or a link to a long one. */
    show(role: string, capabilities: readonly string[]): Markup {
      if (capabilities.length <= INLINE_MAX)
        return html`<ul class="chips">${capabilities.map((one) => html`<li>${one}</li>`)}</ul>`;
      const key = `${role} ${capabilities.join(" ")}`;
      const id = sets.get(key)?.id ?? `capabilities-${sets.size + 1}`;
      sets.set(key, { id, role, capabilities });
      return html`<a href="#${id}">${capabilities.length} capabilities</a>, ${writesOf(capabilities)}`;
    },
    /** The long lists, once all have been shown. */
    section(): PageSection | false {
      if (sets.size === 0) return false;
      const blocks = [...sets.values()].map(
        ({ id, role, capabilities }) =>
          html`<details><summary>${countText(capabilities.length, "capability")} of <b><bdi>${role}</bdi></b></summary>${byResource(id, capabilities)}</details>\n`,
      );
      return { id: "capabilities", title: "Capabilities", body: html`${blocks}` };
    },
  };
};

const writesOf = (capabilities: readonly string[]) => {
  const writing = capabilities.filter((capability) => isWrite({ capability })).length;
  if (writing === 0) return "none of which changes anything";
  return writing === capabilities.length ? "all of which change records" : `${writing} of which change records`;
};

/** `role_bindings: create, delete, list, update`. A link opens the fold around its target. */
const byResource = (id: string, capabilities: readonly string[]) => {
  const resources = Map.groupBy(capabilities, (one) => one.slice(0, Math.max(0, one.lastIndexOf("."))));
  const items = [...resources].map(
    ([resource, own]) =>
      html`<li>${resource !== "" && html`<b>${resource}</b> `}${own.map((one) => one.slice(one.lastIndexOf(".") + 1)).join(", ")}</li>`,
  );
  return html`<ul class="resources" id="${id}" tabindex="-1">${items}</ul>`;
};

// A path as a small graph: who sends each request, and the record that it changes. The boxes are below one another, and the requests are
// arcs at their side. So a graph of any path is as narrow as a phone.

const WIDTH = 340;
const BOX = { width: 230, height: 30, gap: 18 };
const TEXT_MAX = 30;

interface Edge {
  from: number;
  to: number;
  label: string;
}

export const pathGraph = ({ from, fromId, steps, gains, assumes }: PathText): Markup => {
  const names: string[] = [];
  const nodes = new Map<string, number>();
  // Anyone may give an identity the name of another one, or a text that we write in a box.
  const node = (key: string, name: string) => {
    const index = nodes.get(key) ?? names.push(name) - 1;
    nodes.set(key, index);
    return index;
  };
  let end = node(`by ${fromId}`, from);
  const edges = steps.map(({ by, byId, target, targetId }, i): Edge => {
    const sender = node(`by ${byId}`, byId === "workload" ? "its workload" : by);
    const to = node(`to ${target} ${targetId}`, target);
    end = to;
    return { from: sender, to, label: String(i + 1) };
  });
  const count = gains.reduce((sum, { capabilities }) => sum + capabilities.length, 0);
  const [first, ...others] = gains;
  const place = first === undefined ? "" : ` at ${first.place}${others.length > 0 ? ` and ${others.length} more` : ""}`;
  const goal = node("goal", `${countText(count, "capability")}${place}`);
  edges.push({ from: end, to: goal, label: "" });
  const label = edges
    .map((one) => `${one.label === "" ? "then" : one.label} ${names[one.from]} → ${names[one.to]}`)
    .join("; ");
  const height = names.length * (BOX.height + BOX.gap) - BOX.gap + 4;
  return html`<svg class="path ${assumes}" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${label}">
${names.map((name, i) => box(name, i, i === 0 ? "start" : i === goal ? "goal" : ""))}${edges.map(arc)}</svg>
`;
};

const topOf = (index: number) => 2 + index * (BOX.height + BOX.gap);

const box = (name: string, index: number, kind: string) => {
  const top = topOf(index);
  const shown = [...name].length > TEXT_MAX ? `${[...name].slice(0, TEXT_MAX - 1).join("")}…` : name;
  return html`<g class="box ${kind}"><rect x="1" y="${top}" width="${BOX.width}" height="${BOX.height}" rx="6"/><text x="10" y="${top + 20}">${shown}</text></g>
`;
};

/** Arcs leave a box below its middle and reach one above its middle; longer arcs are farther out. */
const arc = ({ from, to, label }: Edge) => {
  const [start, end] = [topOf(from) + 20, topOf(to) + 10];
  const out = BOX.width + 1;
  const far = Math.min(WIDTH - 14, out + 26 + 16 * Math.abs(to - from));
  const middle = (start + end) / 2;
  const head = `M${out + 7} ${end - 4}L${out + 1} ${end}L${out + 7} ${end + 4}`;
  const text =
    label !== "" &&
    html`<text class="number" x="${Math.round(out + (far - out) * 0.75) + 8}" y="${middle + 4}">${label}</text>`;
  return html`<g class="arc"><path d="M${out} ${start}C${far} ${start} ${far} ${end} ${out + 2} ${end}"/><path d="${head}"/>${text}</g>
`;
};
