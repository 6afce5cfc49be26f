// What one identity gains and loses, and who can assume it.
import { textOf } from "../../graph/same.ts";
import { changesAssumption } from "../../review/danger.ts";
import type { Assumption, IdentityReview, PatternExamples, Row } from "../../review/report.ts";
import { differences, type Segment } from "../differences.ts";
import { placeOf, serviceText } from "../review/blocks.ts";
import { countText } from "../words.ts";
import type { CapabilitySets } from "./capability-sets.ts";
import { html, type Markup } from "./markup.ts";

export interface IdentityOptions {
  id: string;
  isOpen: boolean;
  sets: CapabilitySets;
}

export const identityBlock = (identity: IdentityReview, { id, isOpen, sets }: IdentityOptions): Markup => {
  const { uid, name, nameBefore, groupName, change, gains, losses } = identity;
  const tag = change !== "none" && html` <em class="tag">${change}</em>`;
  const warning = changesAssumption(identity) && html` <strong class="tag">who can assume it changes</strong>`;
  const head = html`${renameMarkup(nameBefore, name)}${tag}${warning} <small>in <bdi>${placeOf(groupName, groupName)}</bdi>${serviceText(identity)}: ${summaryOf(identity)}</small>`;
  return html`<details class="identity" id="${id}"${isOpen && html` open`}><summary class="head">${head}</summary>
${changesAssumption(identity) && assumptionsOf(identity)}${rowsOf("Gains", "gain", gains, sets)}${rowsOf("Loses", "loss", losses, sets)}${!changesAssumption(identity) && assumptionsOf(identity)}${
  uid !== null && html`<p class="note"><small>uid ${uid}</small></p>`
}</details>
`;
};

export const summaryOf = ({ gains, losses }: Pick<IdentityReview, "gains" | "losses">): string => {
  const parts = [
    gains.length > 0 && `gains ${countText(gains.length, "capability", "capabilities")}`,
    losses.length > 0 && `loses ${countText(losses.length, "capability", "capabilities")}`,
  ];
  return parts.filter(Boolean).join("; ") || "no capability changes";
};

/** `old → new` */
export const renameMarkup = (before: string | undefined, name: string): Markup =>
  before === undefined || before === name
    ? html`<bdi class="path">${name}</bdi>`
    : html`<bdi class="path">${before}</bdi> → <bdi class="path">${name}</bdi>`;

const rowsOf = (title: string, kind: "gain" | "loss", rows: readonly Row[], sets: CapabilitySets): Markup | false => {
  if (rows.length === 0) return false;
  const items = sharedRows(rows).map(
    ({ places, role, capabilities }) =>
      html`<li>at ${places.map((place, i) => html`${i > 0 && ", "}${placeMarkup(place)}`)} and below, through <b><bdi>${role}</bdi></b>: ${sets.show(role, capabilities)}</li>`,
  );
  return html`<h3 class="${kind}">${title}</h3><ul class="rows">${items}</ul>\n`;
};

const placeMarkup = ({ group, groupName }: Row): Markup =>
  html`<bdi class="path">${placeOf(groupName, groupName)}</bdi>${group === null && html` <ins class="tag">new</ins>`}`;

interface SharedRow {
  /** a row of each group */
  places: Row[];
  role: string;
  capabilities: string[];
}

/** Groups where one role grants the same capabilities share a row. */
const sharedRows = (rows: readonly Row[]): SharedRow[] => {
  const byPlace = Map.groupBy(rows, ({ group, groupName, role }) => `${group ?? ""}\n${groupName}\n${role}`);
  const shared = new Map<string, SharedRow>();
  for (const own of byPlace.values()) {
    const [first] = own as [Row];
    const capabilities = own.map(({ capability }) => capability);
    const key = `${first.role}\n${capabilities.join("\n")}`;
    const row = shared.get(key) ?? { places: [], role: first.role, capabilities };
    row.places.push(first);
    shared.set(key, row);
  }
  return [...shared.values()];
};

const assumptionsOf = (identity: IdentityReview): Markup => {
  const { change, before, after, assumableBefore, assumableAfter } = identity;
  if (textOf(assumableBefore) === textOf(assumableAfter)) {
    const same = after ?? before;
    const examples = patternsOf(same);
    return html`<h3>Who can assume it, before and after</h3>${sentenceOf(same)}${examples && html`<details><summary>Examples</summary>${examples}</details>`}\n`;
  }
  const marked = before && after ? differences(before.text, after.text) : undefined;
  const was =
    change === "created"
      ? ABSENT_BEFORE
      : html`${sentenceOf(before, marked && markDifferences("del", marked.before))}${patternsOf(before)}${jsonOf(assumableBefore)}`;
  const will =
    change === "deleted" || change === "replaced"
      ? ABSENT_AFTER
      : html`${sentenceOf(after, marked && markDifferences("ins", marked.after))}${patternsOf(after)}${jsonOf(assumableAfter)}`;
  return html`<h3>Who can assume it</h3><div class="sides"><div><h4>Before</h4>${was}</div><div><h4>After</h4>${will}</div></div>
`;
};

/** What differs stands out inside the text. */
export const markDifferences = (tag: "ins" | "del", segments: readonly Segment[]): Markup => {
  const texts = segments.map(({ text, differs }) => {
    if (!differs) return html`${text}`;
    return tag === "ins" ? html`<ins class="differs">${text}</ins>` : html`<del class="differs">${text}</del>`;
  });
  return html`${texts}`;
};

const ABSENT_BEFORE = html`<p class="note">The identity does not exist yet.</p>`;
const ABSENT_AFTER = html`<p class="note">The identity does not exist any more.</p>`;
const NOT_READ = html`<p class="note">Not readable, or the identity cannot be assumed.</p>`;

const sentenceOf = (assumption: Assumption | null, marked?: Markup): Markup =>
  assumption === null ? NOT_READ : html`<p>${marked ?? assumption.text}</p>`;

const patternsOf = (assumption: Assumption | null): Markup | false => {
  const patterns = assumption?.patterns ?? [];
  return patterns.length > 0 && html`<ul class="rows">${patterns.map(patternOf)}</ul>`;
};

const patternOf = ({ claim, pattern, matches, differs }: PatternExamples): Markup =>
  html`<li>${claim} <code>${pattern}</code>${examplesOf("matches", matches)}${examplesOf("does not match", differs)}</li>`;

const examplesOf = (word: string, texts: readonly string[]): Markup | false =>
  texts.length > 0 && html`<br>${word} ${texts.map((text, i) => html`${i > 0 && ", "}<code>${text}</code>`)}`;

const jsonOf = (relationship: unknown): Markup | false => {
  if (relationship === null) return false;
  const lines = JSON.stringify(relationship, undefined, 2).split("\n");
  return html`<details><summary>As JSON</summary><pre tabindex="0">${lines.map((line) => html`${line}\n`)}</pre></details>`;
};
