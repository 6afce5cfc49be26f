// A review as one page: the map of who may do what where, what the rules mark, what each subject gains and loses, and who has access
// where, before and after.
import type { NodeId } from "../../graph/graph.ts";
import { changesAssumption, subjectsInOrder } from "../../review/danger.ts";
import type { Finding, IdentityReview, PeopleReview, Report, Review, RuleName } from "../../review/report.ts";
import { groupNameOf } from "../../review/rule/rule.ts";
import { placedId } from "../../review/services.ts";
import { docsAddress, pathOfRule } from "../docs.ts";
import { mapOf } from "../map/model.ts";
import { type Count, countsOf, footOf, headFacts, serviceText, subjectOf } from "../review/blocks.ts";
import { limitsOf, sectionsOf, TITLES } from "../review/sections.ts";
import { countText } from "../words.ts";
import { type CapabilitySets, capabilitySets } from "./capability-sets.ts";
import { factList } from "./facts.ts";
import { identityBlock } from "./identity.ts";
import { mapSection } from "./map.ts";
import { html, type Markup } from "./markup.ts";
import { treesOf } from "./merge.ts";
import { pageOf, type Section } from "./page.ts";
import { pathsSection } from "./paths.ts";
import { peopleBlock } from "./people.ts";
import { rolesSection } from "./roles.ts";
import { OPEN_MAX as LIST_OPEN_MAX, listOf, listSection, reportSection, unknownSection } from "./section.ts";
import { treeSection } from "./tree.ts";

export const reviewAsHtml = (review: Review): string => {
  const { report } = review;
  const sets = capabilitySets();
  const subjects = subjectsInOrder([...report.identities, ...report.people], report.findings);
  const nodes = subjects.map((one) => nodeOf(review, one));
  const links = linksOf(subjects, nodes);
  const limits = limitsOf(report)
    .filter(({ id }) => id !== "unknown")
    .map(reportSection);
  const [deleted, adopted, forced, ...others] = sectionsOf(report).map(reportSection) as (Section | false)[];
  return pageOf({
    title: subjectOf(report),
    lead: leadOf(report),
    search: "identities, groups and roles",
    opening: mapOfReview(review, subjects, nodes, links),
    sections: [
      unknownSection(report),
      ...limits,
      findingsSection(report.findings, links),
      subjectsSection(report, subjects, sets),
      pathsSection("opens", TITLES.opens, report.opens, sets),
      pathsSection("closes", TITLES.closes, report.closes, sets),
      deleted ?? false,
      forced ?? false,
      treeSection(treesOf(review), { linkOf: links.ofNode }),
      rolesSection(review, sets),
      adopted ?? false,
      ...others,
      sets.section(),
      { id: "limits", title: "What this review cannot promise", body: html`<p>${footOf(report)}</p>` },
    ],
  });
};

/** Names the change: people who get the page from others read it without the pull request. */
const leadOf = (report: Report): Markup => {
  const { findings, unknown, notVisible } = report;
  const open = findings.filter(({ allowed }) => !allowed).length;
  const denied = findings.filter((one) => one.denied).length;
  const limits = unknown.length + notVisible.length;
  // Gains and losses also show that there are none.
  const shown = countsOf(report).filter(({ count, isAlways }) => count > 0 || isAlways);
  return html`${factList(headFacts(report))}<p>Who can do what now, and after the update.</p>
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

type Subject = IdentityReview | PeopleReview;

const addressOf = (index: number): string => `identity-${index + 1}`;

/** Its row in the map: the node of an identity, the record of people. A new one has only its name and place. */
const nodeOf = ({ before, after, people }: Review, subject: Subject): NodeId | undefined => {
  // Beside another service, a node may have an id of its own.
  const { uid: own, service = "" } = subject;
  if ("subject" in subject) {
    const all = [people.after, people.before].flatMap(({ identities }) => [...identities.values()]);
    const found = all.filter(({ name, recordUid }) => name === subject.subject && recordUid === own);
    return (found.find(({ record }) => record.startsWith(placedId("", service))) ?? found[0])?.record;
  }
  if (own !== null)
    return [placedId(own, service), own].find((id) => after.identities.has(id) || before.identities.has(id)) ?? own;
  return [...after.identities.values(), ...before.identities.values()].find(
    ({ uid, name, group }) => uid === null && name === subject.name && groupNameOf(after, group) === subject.groupName,
  )?.id;
};

const linksOf = (subjects: readonly Subject[], nodes: readonly (NodeId | undefined)[]): Links => {
  const [byNode, bySubject] = [new Map<string, string>(), new Map<string, string>()];
  subjects.forEach((one, i) => {
    const node = nodes[i];
    if (node !== undefined) byNode.set(node, `#${addressOf(i)}`);
    bySubject.set("subject" in one ? one.subject : (one.uid ?? one.name), `#${addressOf(i)}`);
  });
  return { ofNode: (id) => byNode.get(id), ofSubject: (subject) => bySubject.get(subject) };
};

const mapOfReview = (
  { report, before, after, people }: Review,
  subjects: readonly Subject[],
  nodes: readonly (NodeId | undefined)[],
  links: Links,
): Section => {
  const map = mapOf({
    before: { graph: before, people: people.before },
    after: { graph: after, people: people.after },
    changed: nodes.filter((one) => one !== undefined),
  });
  const tags = new Map(
    subjects.map((one, i) => [
      nodes[i],
      "subject" in one ? "" : changesAssumption(one) ? "who can assume it changes" : "",
    ]),
  );
  const limits = report.unknown.length + report.notVisible.length;
  const note =
    limits > 0 &&
    html`<p class="note">The map lacks what is <a href="#${report.unknown.length > 0 ? "unknown" : "not-visible"}">not known or not visible</a>.</p>`;
  return mapSection(map, { linkOf: links.ofNode, tagOf: (id) => tags.get(id) || undefined, note });
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

const ruleLink = (rule: RuleName): Markup =>
  html`<a class="rule" href="${docsAddress(pathOfRule(rule))}"><code>${rule}</code></a>`;

const findingEntry =
  (links: Links) =>
  (finding: Finding): Markup => {
    const { rule, subject, name, message, list, allowed, denied } = finding;
    const link = links.ofSubject(subject);
    const of = link === undefined ? html`<bdi>${name}</bdi>` : html`<a href="${link}"><bdi>${name}</bdi></a>`;
    const state = denied ? html` <strong class="tag">denied</strong>` : allowed && html` <em class="tag">allowed</em>`;
    const items = list && html`<ul class="parts">${list.items.map((item) => html`<li>${item}</li>`)}</ul>`;
    return html`${ruleLink(rule)}${state} <b>${of}</b>${serviceText(finding)}: ${list ? list.lead : message}${items}`;
  };

/** More identities than these are folded to one line each. */
const OPEN_MAX = 12;

const subjectsSection = (
  { unknown, notVisible }: Report,
  subjects: readonly Subject[],
  sets: CapabilitySets,
): Section => {
  const isOpen = subjects.length <= OPEN_MAX;
  const blocks = subjects.map((one, i) => {
    const options = { id: addressOf(i), isOpen, sets };
    return "subject" in one ? peopleBlock(one, options) : identityBlock(one, options);
  });
  const seen = unknown.length + notVisible.length > 0 && " that this review can see";
  const none = html`<p>Nobody gains or loses anything${seen}.</p>`;
  return {
    id: "identities",
    title: "What each of them gains and loses",
    body: blocks.length === 0 ? none : html`${blocks}`,
  };
};
