// The verdict on a finding: excused, denied, or only shown. An allowance excuses the finding about one existing record. If it only seems to
// name the record, the finding says why it does not excuse it.

import { isUidp, suggestion } from "../../schema/index.ts";
import { type AccessGraph, type GroupNode, type NodeId, organizationsIn } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { existingIn, type NamedRecord, namedRecordsIn } from "./organizations.ts";
import type { Proposal } from "./proposal.ts";
import type { Finding, RuleName } from "./report.ts";
import { type Found, ownersIn } from "./rule.ts";
import { type Allowance, allowanceText, type Required, type Verdict } from "./rules-file.ts";

/** A finding, and its record. */
export interface Judged {
  finding: Finding;
  /** absent: it is not about a record of the graphs */
  node?: NodeId;
  /** for a subject without its own record: it did not exist before */
  isNew?: boolean;
}

/**
 * These fail the review without --deny: a file of rules or a test requires something that is missing, or the change is not for their
 * branch.
 */
const ALWAYS: readonly RuleName[] = ["required-owners", "may-own", "test-fails", "other-branch"];

interface Graphs {
  before: AccessGraph;
  after: AccessGraph;
  notVisible: readonly NotVisible[];
}

export const judge = (found: readonly Judged[], { deny, allow }: Verdict, graphs: Graphs): Finding[] => {
  const excuse = excuserOf(graphs);
  return found.map(({ finding, ...record }) => {
    const allowances = allow.filter(({ rule }) => rule === finding.rule);
    const reasons = allowances.map((one) => excuse(one, { finding, ...record }));
    if (reasons.includes(true)) return { ...finding, allowed: true };
    const texts = reasons.filter((one) => typeof one === "string");
    const message = [finding.message, ...texts].join("; ");
    const { lead, items } = finding.list ?? { lead: finding.message, items: [] };
    const isDenied = deny.includes(finding.rule) || ALWAYS.includes(finding.rule);
    return {
      ...finding,
      message,
      list: texts.length > 0 ? { lead, items: [...items, ...texts] } : finding.list,
      denied: isDenied ? true : undefined,
    };
  });
};

/** True: excused; a text: why not, although the allowance seems to mean this finding. */
const excuserOf = ({ before, after, notVisible }: Graphs) => {
  const byId = (graph: AccessGraph) => new Map(namedRecordsIn(graph).map((one) => [one.id, one]));
  const [olds, news] = [byId(before), byId(after)];
  return (allowance: Allowance, { finding, node = "", isNew = false }: Judged) => {
    const { subject } = allowance;
    const [old, now] = [olds.get(node), news.get(node)];
    const text = `${allowanceText(allowance)} does not excuse it`;
    const kind = (old ?? now)?.kind;
    if (kind === undefined) {
      // The author of a change chooses the names of unknown parts.
      if (subject !== finding.subject || finding.unknown) return undefined;
      return isNew ? `${text}: they are new, and an allowance is for people who exist` : true;
    }
    if (![old, now].some((one) => one && namesOf(one).includes(subject))) return undefined;
    if (!old) return `${text}: this ${kind} is new, and an allowance is for one that exists`;
    const existing = existingIn(olds.values(), notVisible, kind)(subject);
    if ("problem" in existing) return `${text}: ${existing.problem}`;
    return existing.id === node ? true : `${text}: another ${kind} has this name`;
  };
};

/** The names by which an allowance may refer to it. */
const namesOf = ({ uid, name, path }: NamedRecord) => [name, path, path.replace(/^\//, ""), uid];

// Allowances that can excuse no finding, because nothing has the name of their subject: a misspelled one would otherwise go unnoticed.

/** A sentence for each. `others`: other possible subjects of findings. */
export const unknownSubjects = (
  allow: readonly Allowance[],
  { before, after, notVisible }: Graphs,
  others: readonly string[],
): string[] => {
  // The subject of these is a file, which this change may not touch, or a branch.
  const checked = allow.filter(({ rule }) => rule !== "rules-changed" && rule !== "other-branch");
  if (checked.length === 0) return [];
  const [olds, news] = [namedRecordsIn(before), namedRecordsIn(after)];
  const names = olds.flatMap(({ name, path }) => [name, path]);
  const known = new Set([
    ...others,
    ...names,
    ...olds.flatMap(({ uid }) => uid ?? []),
    ...news.flatMap(({ name, path }) => [name, path]),
  ]);
  const isHidden = notVisible.some(({ kind }) => ["group", "identity", "role"].includes(kind));
  const hidden = isHidden ? "; you cannot list all of them, so it may be among the others" : "";
  return checked
    .filter(({ subject }) => !known.has(subject))
    .map((one) => {
      const near = isUidp(one.subject) ? "" : suggestion(one.subject, names);
      return `${allowanceText(one)} excuses nothing: there is no identity, group or role ${JSON.stringify(one.subject)}${near || hidden}`;
    });
};

// required-owners and may-own: the requirements of a file of rules on an organization after the change, whether or not this change broke
// them.

type Broken = Found & { rule: RuleName };

export const findBroken = (
  proposal: Proposal,
  { owners: least, mayOwn }: Required,
  notVisible: readonly NotVisible[],
): Broken[] => {
  const { before, after } = proposal;
  const [was, owners] = [ownersIn(before), ownersIn(after)];
  const hidden = new Set(notVisible.filter(({ kind }) => kind === "roleBinding").map(({ group }) => group));
  const mayOwnIn = mayOwn && ownershipOf(proposal, mayOwn, notVisible);
  return organizationsToCheck(proposal).flatMap((organization): Broken[] => {
    const { id, name } = organization;
    const held = owners.get(id) ?? new Set();
    const unseen =
      hidden.has(id) || hidden.has("") ? "; you cannot list its role bindings, so there may be others" : "";
    const few =
      least !== undefined && held.size < least
        ? [`${identityCountText(held.size)} the role owner on ${name} itself after this change; ${least} must${unseen}`]
        : [];
    const others = mayOwnIn ? [...held].filter((identity) => !mayOwnIn(organization, identity)) : [];
    const unknown =
      mayOwn && unseen ? [`who has the role owner on ${name} is not visible: you cannot list its role bindings`] : [];
    return [
      ...few.map((message): Broken => ({ rule: "required-owners", subject: id, message })),
      ...unknown.map((message): Broken => ({ rule: "may-own", subject: id, message })),
      ...others.map((identity): Broken => {
        const verb = was.get(id)?.has(identity) ? "has" : "gets";
        const isNew = !before.identities.has(identity)
          ? "; this identity is new, so no path of may-own names it yet"
          : "";
        const message = `${verb} the role owner on ${name} itself, and may-own does not list it${isNew}`;
        return { rule: "may-own", subject: identity, message };
      }),
    ];
  });
};

const identityCountText = (count: number) => (count === 1 ? "1 identity has" : `${count || "no"} identities have`);

/** The organizations of the change; all, if they are unknown. */
const organizationsToCheck = ({ before, after, organizations }: Proposal): GroupNode[] => {
  const all = organizationsIn(after);
  const relevant = all.filter(({ id }) => organizations?.has(id) || !before.groups.has(id));
  return relevant.length === 0 ? all : relevant;
};

/** A path means an existing identity. A new organization has none, so there a path means a new identity. */
const ownershipOf = (
  { before, after }: Proposal,
  mayOwn: readonly string[],
  notVisible: readonly NotVisible[],
): ((organization: GroupNode, identity: NodeId) => boolean) => {
  const find = existingIn(namedRecordsIn(before), notVisible, "identity");
  const known = new Set(mayOwn.map(find).flatMap((found) => ("id" in found ? [found.id] : [])));
  const written = new Set(namedRecordsIn(after).flatMap(({ id, path }) => (mayOwn.includes(path) ? [id] : [])));
  return ({ id }, identity) => known.has(identity) || (!before.groups.has(id) && written.has(identity));
};
