// A review as one page: what the rules mark, what each identity gains and loses, and who has access where, before and after.
import type { Finding, IdentityReview, Report, Review } from "../../review/report.ts";
import { type Count, countsOf, footOf, headFacts, serviceText } from "../review/blocks.ts";
import { limitsOf, sectionsOf, TITLES } from "../review/sections.ts";
import { countText } from "../words.ts";
import { type CapabilitySets, capabilitySets } from "./capability-sets.ts";
import { factList } from "./facts.ts";
import { identityBlock } from "./identity.ts";
import { html, type Markup } from "./markup.ts";
import { type GroupTree, treesOf } from "./merge.ts";
import { pageOf, type Section } from "./page.ts";
import { pathsSection } from "./paths.ts";
import { peopleSection } from "./people.ts";
import { rolesSection } from "./roles.ts";
import { OPEN_MAX as LIST_OPEN_MAX, listOf, listSection, reportSection, unknownSection } from "./section.ts";
import { treeSection } from "./tree.ts";

export const reviewAsHtml = (review: Review): string => {
  const { report } = review;
  const sets = capabilitySets();
  const links = linksOf(report.identities);
  const trees = treesOf(review);
  const [, ...limits] = limitsOf(report).map(reportSection);
  const [deleted, adopted, forced, ...others] = sectionsOf(report).map(reportSection) as (Section | false)[];
  return pageOf({
    title: titleOf(changedOf(trees, report, links)),
    lead: leadOf(report),
    search: "identities, groups and roles",
    sections: [
      unknownSection(report),
      ...limits,
      findingsSection(report.findings, links),
      identitiesSection(report, sets),
      peopleSection(report.people, sets),
      pathsSection("opens", TITLES.opens, report.opens, sets),
      pathsSection("closes", TITLES.closes, report.closes, sets),
      deleted ?? false,
      forced ?? false,
      treeSection(trees, { linkOf: links.ofNode }),
      rolesSection(review, sets),
      adopted ?? false,
      ...others,
      sets.section(),
      { id: "limits", title: "What this review cannot promise", body: html`<p>${footOf(report)}</p>` },
    ],
  });
};

/** The organizations with a change, or with access of an identity that changes. All, where it could be any. */
const changedOf = (trees: readonly GroupTree[], { people, unknown, notVisible }: Report, links: Links) => {
  const isChanged = ({ hasChange, roles, children }: GroupTree): boolean =>
    hasChange ||
    roles.some(({ holders }) => holders.some(({ identity }) => links.ofNode(identity) !== undefined)) ||
    children.some(isChanged);
  const changed = trees.filter(isChanged);
  return changed.length === 0 || people.length + unknown.length + notVisible.length > 0 ? trees : changed;
};

const titleOf = (trees: readonly GroupTree[]): string => {
  const names = trees.length > 3 ? `${trees.length} organizations` : trees.map(({ name }) => name).join(", ");
  return names === "" ? "Change in access" : `Change in access of ${names}`;
};

/** Names the change: people who get the page from others read it without the pull request. */
const leadOf = (report: Report): Markup => {
  const { source, findings, unknown, notVisible } = report;
  const then = source === "preview" ? "after the update that was previewed" : "after an update with this policy";
  const open = findings.filter(({ allowed }) => !allowed).length;
  const denied = findings.filter((one) => one.denied).length;
  const limits = unknown.length + notVisible.length;
  // Gains and losses also show that there are none.
  const shown = countsOf(report).filter(({ count, isAlways }) => count > 0 || isAlways);
  return html`${factList(headFacts(report))}<p>Who can do what now, and ${then}.</p>
<ul class="tiles">${denied > 0 && tile("alert", denied, denied === 1 ? "denied finding" : "denied findings")}${tile("alert", open, open === 1 ? "finding" : "findings")}${shown.map(
    ({ kind, count, one, many }) => tile(kind, count, count === 1 ? one : many),
  )}${limits > 0 && tile("alert", limits, "unknown or not visible")}</ul>
`;
};

const tile = (kind: Count["kind"], count: number, what: string): Markup =>
  html`<li class="${count === 0 ? "none" : kind}"><b>${count}</b> ${what}</li>`;

interface Links {
  /** of an identity that exists and has a block on the page */
  ofNode(id: string): string | undefined;
  ofSubject(subject: string): string | undefined;
}

const addressOf = (index: number): string => `identity-${index + 1}`;

const linksOf = (identities: readonly IdentityReview[]): Links => {
  const [byUid, byNewName] = [new Map<string, string>(), new Map<string, string>()];
  identities.forEach(({ uid, name }, i) => {
    if (uid === null) byNewName.set(name, `#${addressOf(i)}`);
    else byUid.set(uid, `#${addressOf(i)}`);
  });
  return {
    ofNode: (id) => byUid.get(id),
    ofSubject: (subject) => byUid.get(subject) ?? byNewName.get(subject),
  };
};

/** Among many findings, a rule with few shows them: one may be the most important. */
const RULE_OPEN_MAX = 5;

const findingsSection = (findings: readonly Finding[], links: Links): Section | false => {
  const entry = findingEntry(links);
  if (findings.length <= LIST_OPEN_MAX) return listSection("findings", "Findings", findings.map(entry));
  // Many: a reader sees at least which rules there are, and which of them deny.
  const rules = [...Map.groupBy(findings, ({ rule }) => rule)].map(([rule, own]) => {
    const denied = own.filter((one) => one.denied).length;
    const tag = denied > 0 && html` <strong class="tag">${denied} denied</strong>`;
    const open = own.length <= RULE_OPEN_MAX && html` open`;
    return html`<details${open}><summary><code class="rule">${rule}</code> ${countText(own.length, "finding")}${tag}</summary>${listOf(own.map(entry))}</details>
`;
  });
  return { id: "findings", title: "Findings", body: html`${rules}` };
};

const findingEntry =
  (links: Links) =>
  (finding: Finding): Markup => {
    const { rule, subject, name, message, allowed, denied } = finding;
    const link = links.ofSubject(subject);
    const of = link === undefined ? html`<bdi>${name}</bdi>` : html`<a href="${link}"><bdi>${name}</bdi></a>`;
    const state = denied ? html` <strong class="tag">denied</strong>` : allowed && html` <em class="tag">allowed</em>`;
    return html`<code class="rule">${rule}</code>${state} <b>${of}</b>${serviceText(finding)}: ${message}`;
  };

/** More identities than these are folded to one line each. */
const OPEN_MAX = 12;

const identitiesSection = ({ identities, unknown, notVisible }: Report, sets: CapabilitySets): Section => {
  const isOpen = identities.length <= OPEN_MAX;
  const blocks = identities.map((identity, i) => identityBlock(identity, { id: addressOf(i), isOpen, sets }));
  const seen = unknown.length + notVisible.length > 0 && " that this review can see";
  const none = html`<p>No identity gains or loses anything${seen}.</p>`;
  return {
    id: "identities",
    title: "What each identity gains and loses",
    body: blocks.length === 0 ? none : html`${blocks}`,
  };
};
