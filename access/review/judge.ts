// What becomes of a finding: excused, denied, or only shown. An allowance excuses the finding about one record that exists already; where
// it does not, although it seems to name the record, the finding says why.

import { getOrInsert, isUidp, suggestion } from "../../schema/index.ts";
import { type AccessGraph, type NodeId, pathOf } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { type Existing, existingIn, type Kind, recordPath } from "./organizations.ts";
import type { Finding, RuleName } from "./report.ts";
import { type Allowance, allowanceText, type Verdict } from "./rules-file.ts";

/** A finding, and the record that it is about. */
export interface Judged {
  finding: Finding;
  /** absent: it is about no record of the graphs */
  node?: NodeId;
  /** of a subject without a record of its own: it did not exist before */
  isNew?: boolean;
}

/** They fail the review without --deny: a file of rules or a test asks for what is missing, or the change is not for their branch. */
const ALWAYS: readonly RuleName[] = ["required-owners", "may-own", "test-fails", "other-branch"];

interface Graphs {
  before: AccessGraph;
  after: AccessGraph;
  notVisible: readonly NotVisible[];
}

export const judge = (found: readonly Judged[], { deny, allow }: Verdict, graphs: Graphs): Finding[] => {
  const excuse = excuserOf(graphs);
  return found.map(({ finding, node, isNew = false }) => {
    const allowances = allow.filter(({ rule }) => rule === finding.rule);
    const reasons = allowances.map((one) => excuse(one, finding, node, isNew));
    if (reasons.includes(true)) return { ...finding, allowed: true };
    const texts = reasons.filter((one) => typeof one === "string");
    const message = [finding.message, ...texts].join("; ");
    const { lead, items } = finding.list ?? { lead: finding.message, items: [] };
    const isDenied = deny.includes(finding.rule) || ALWAYS.includes(finding.rule);
    return {
      ...finding,
      message,
      ...(texts.length > 0 && { list: { lead, items: [...items, ...texts] } }),
      ...(isDenied && { denied: true as const }),
    };
  });
};

/** True: excused; a text: why not, although the allowance seems to mean this finding. */
type Excuse = (
  allowance: Allowance,
  finding: Finding,
  node: NodeId | undefined,
  isNew: boolean,
) => true | string | undefined;

const excuserOf = ({ before, after, notVisible }: Graphs): Excuse => {
  const finders = new Map<Kind, (text: string) => Existing>();
  const finderOf = (kind: Kind) => getOrInsert(finders, kind, () => existingIn(before, notVisible, kind));
  return (allowance, finding, node, isNew) => {
    const { subject } = allowance;
    const kind = kindOf(node, before) ?? kindOf(node, after);
    if (node === undefined || kind === undefined) {
      // The author of a change names what is not known.
      if (subject !== finding.subject || finding.unknown) return undefined;
      if (!isNew) return true;
      return `${allowanceText(allowance)} does not excuse it: they are new, and an allowance is for people who exist`;
    }
    const existing = finderOf(kind)(subject);
    if ("id" in existing && existing.id === node) return true;
    const text = allowanceText(allowance);
    const names = textsOf(after, kind, node) ?? textsOf(before, kind, node) ?? [];
    if (!names.includes(subject)) return undefined;
    if (kindOf(node, before) === undefined)
      return `${text} does not excuse it: this ${kind} is new, and an allowance is for one that exists`;
    return `${text} does not excuse it: ${"problem" in existing ? existing.problem : `another ${kind} has this name`}`;
  };
};

const kindOf = (node: NodeId | undefined, { identities, groups, roles }: AccessGraph): Kind | undefined => {
  if (node === undefined) return undefined;
  if (identities.has(node)) return "identity";
  if (groups.has(node)) return "group";
  return roles.has(node) ? "role" : undefined;
};

/** What an author of an allowance may call it. */
const textsOf = (graph: AccessGraph, kind: Kind, id: NodeId): string[] | undefined => {
  const node =
    kind === "group" ? graph.groups.get(id) : kind === "identity" ? graph.identities.get(id) : graph.roles.get(id);
  if (node === undefined) return undefined;
  const group = "parent" in node ? node.parent : node.group;
  const path = recordPath(graph, group, node.name);
  return [node.name, path, path.replace(/^\//, ""), node.uid ?? ""];
};

// Allowances that can excuse no finding, since nothing has the name of their subject: a misspelt one would go unnoticed otherwise.

interface Named {
  before: AccessGraph;
  after: AccessGraph;
  /** what else a finding may be about */
  others: readonly string[];
  notVisible: readonly NotVisible[];
}

/** A sentence for each. */
export const unknownSubjects = (
  allow: readonly Allowance[],
  { before, after, others, notVisible }: Named,
): string[] => {
  // The subject of these is a file, which this change may leave alone, or a branch.
  const checked = allow.filter(({ rule }) => rule !== "rules-changed" && rule !== "other-branch");
  if (checked.length === 0) return [];
  const names = namesIn(before);
  const known = new Set([...others, ...names, ...namesIn(after), ...uidsIn(before)]);
  const isHidden = notVisible.some(({ kind }) => ["group", "identity", "role"].includes(kind));
  const hidden = isHidden ? "; you cannot list all of them, so it may be among the others" : "";
  return checked
    .filter(({ subject }) => !known.has(subject))
    .map((one) => {
      const near = isUidp(one.subject) ? "" : suggestion(one.subject, names);
      return `${allowanceText(one)} excuses nothing: there is no identity, group or role ${JSON.stringify(one.subject)}${near || hidden}`;
    });
};

/** Also paths. */
const namesIn = (graph: AccessGraph): string[] => [
  ...[...graph.groups.values()].flatMap(({ id, name }) => [name, pathOf(graph, id)]),
  ...[...graph.identities.values(), ...graph.roles.values()].flatMap(({ name, group }) => [
    name,
    recordPath(graph, group, name),
  ]),
];

const uidsIn = ({ groups, identities, roles }: AccessGraph): string[] =>
  [groups, identities, roles].flatMap((nodes) => [...nodes.values()].flatMap(({ uid }) => uid ?? []));
