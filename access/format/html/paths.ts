// Paths to more access: each as a graph, with its requests beside it.
import type { PathReview } from "../../review/report.ts";
import { type PathText, reviewedPathText } from "../paths/rows.ts";
import type { CapabilitySets } from "./capability-sets.ts";
import { html, type Markup } from "./markup.ts";
import type { Section } from "./page.ts";
import { pathGraph } from "./path-graph.ts";

/** More paths than these are folded to one line each. */
const OPEN_MAX = 12;

export const pathBlocks = (paths: readonly PathText[], sets: CapabilitySets): Markup[] =>
  paths.map((path) => pathBlock(path, paths.length <= OPEN_MAX, sets));

const pathBlock = (path: PathText, isOpen: boolean, sets: CapabilitySets): Markup => {
  const { from, assumes, gains, steps, assumptions, proof } = path;
  const tag = assumes === "strict" ? html`<strong class="tag">strict</strong>` : html`<em class="tag">cautious</em>`;
  const places = gains.map(
    ({ place, capabilities }) =>
      html`<li>at <bdi class="path">${place}</bdi> and below: ${sets.show("a path", capabilities)}</li>`,
  );
  const requests = steps.map(
    ({ by, request, body, why }) =>
      html`<li>${why} <small>as <bdi>${by}</bdi></small><br><code>${request}</code>${body !== "" && html`<br><code>${body}</code>`}</li>`,
  );
  const first = gains[0]?.place ?? "";
  return html`<details class="identity"${isOpen && html` open`}><summary class="head"><bdi class="path">${from}</bdi> could come to hold more at <bdi class="path">${first}</bdi> ${tag}</summary>
<div class="way">${pathGraph(path)}<ol>${requests}</ol></div>
<ul class="rows">${places}</ul>${assumptions.map((text) => html`<p class="note">If ${text}.</p>`)}${proof !== undefined && html`<p class="note">${proof}</p>`}</details>
`;
};

/** What a change opens or closes. */
export const pathsSection = (
  id: string,
  title: string,
  paths: readonly PathReview[],
  sets: CapabilitySets,
): Section | false => {
  if (paths.length === 0) return false;
  return { id, title, body: html`${pathBlocks(paths.map(reviewedPathText), sets)}` };
};
