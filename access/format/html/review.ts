// A review as one page: its document with the map of who may do what where, before and after.

import { byEffect, changesAssumption, worstFirst } from "../../graph/danger.ts";
import { groupNameOf, type NodeId, type RoleNode } from "../../graph/graph.ts";
import type { Report, Review } from "../../review/report.ts";
import { placedId } from "../../review/services.ts";
import { line, type Section, say, section } from "../document/document.ts";
import { documentAsHtml } from "../document/html.ts";
import { countsOf, reviewDocument, type Subject, subjectOf, subjectsInOf } from "../review/document.ts";
import { mapSection } from "./map.ts";
import { mapOf } from "./map-model.ts";
import { html, type Markup } from "./page.ts";

export const reviewAsHtml = (review: Review): string => {
  const { report, before, after, people } = review;
  const subjects = subjectsInOf(report);
  const nodes = subjects.map((one) => nodeOf(review, one));
  const links = new Map(nodes.map((node, i) => [node, `#identities-${i + 1}`]));
  const reassumed = new Set(
    subjects.flatMap((one, i) => (!("subject" in one) && changesAssumption(one) ? [nodes[i]] : [])),
  );
  const map = mapOf({
    before: { graph: before, people: people.before },
    after: { graph: after, people: people.after },
    changed: nodes.filter((one) => one !== undefined),
  });
  const hidden = report.unknown.length > 0 ? "unknown" : report.notVisible.length > 0 ? "not-visible" : undefined;
  return documentAsHtml(
    { ...reviewDocument(report), title: subjectOf(report) },
    {
      search: "identities, groups and roles",
      lead: tilesOf(report),
      opening: mapSection(map, {
        linkOf: (id) => links.get(id),
        tagOf: (id) => (reassumed.has(id) ? "who can assume it changes" : undefined),
        note:
          hidden !== undefined &&
          html`<p class="note">The map lacks what is <a href="#${hidden}">not known or not visible</a>.</p>`,
      }),
      more: rolesSection(review),
    },
  );
};

const tilesOf = (report: Report): Markup => {
  const { findings, unknown, notVisible } = report;
  const open = findings.filter(({ allowed }) => !allowed).length;
  const denied = findings.filter((one) => one.denied).length;
  const limits = unknown.length + notVisible.length;
  // Gains and losses are shown even if there are none.
  const shown = countsOf(report).filter(({ count, isAlways }) => count > 0 || isAlways);
  return html`<p>Who can do what now, and after the update.</p>
<ul class="tiles">${denied > 0 && tile("alert", denied, denied === 1 ? "denied finding" : "denied findings")}${tile("alert", open, open === 1 ? "finding" : "findings")}${shown.map(
    ({ kind, count, one, many }) => tile(kind, count, count === 1 ? one : many),
  )}${limits > 0 && tile("alert", limits, "unknown or not visible")}</ul>
`;
};

const tile = (kind: string, count: number, noun: string) =>
  html`<li class="${count === 0 ? "none" : kind}"><b>${count}</b> ${noun}</li>`;

/** Its row in the map: the node of an identity, or the record of people. A new one has only its name and place. */
const nodeOf = ({ before, after, people }: Review, subject: Subject): NodeId | undefined => {
  // Next to another service, a node may have its own id.
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

/** The roles whose capabilities change, and new or deleted roles. */
const rolesSection = ({ before, after }: Review): Section => {
  const changes = [...new Set([...before.roles.keys(), ...after.roles.keys()])].flatMap((id) => {
    const [old, own] = [before.roles.get(id), after.roles.get(id)];
    const [lost, gained] = [without(old, own), without(own, old)];
    const isRenamed = own !== undefined && old !== undefined && own.name !== old.name;
    if (old !== undefined && own !== undefined && lost.length + gained.length === 0 && !isRenamed) return [];
    const name = (own ?? old)?.name ?? id;
    const state = old === undefined ? ", new" : own === undefined ? ", deleted" : "";
    const parts = say`${isRenamed && say`${old.name} → `}${{ name }}${[state]}`;
    return [{ name, parts, lost, gained }];
  });
  return section(
    "roles",
    "Roles that change",
    worstFirst(changes, ({ gained, lost, name }) => ({ capabilities: gained, losses: lost, texts: [name] })).map(
      ({ name: role, parts, lost, gained }) => ({
        parts,
        lines: [
          ...(gained.length > 0 ? [line`gains${{ capabilities: gained, role }}`] : []),
          ...(lost.length > 0 ? [line`loses${{ capabilities: lost, role }}`] : []),
        ],
      }),
    ),
  );
};

const without = (one?: RoleNode, other?: RoleNode) =>
  [...new Set(one?.capabilities).difference(new Set(other?.capabilities))].sort(byEffect);
