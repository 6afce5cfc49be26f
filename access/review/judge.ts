// The verdict on a finding: excused, denied, or only shown. An allowance excuses the finding about one existing record. If it only seems to
// name the record, the finding says why it does not excuse it.

import { isUidp, suggestion } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { existingIn, type NamedRecord, namedRecordsIn } from "./organizations.ts";
import type { Finding, RuleName } from "./report.ts";
import { type Allowance, allowanceText, type Verdict } from "./rules-file.ts";

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
type Excuse = (allowance: Allowance, judged: Judged) => true | string | undefined;

const excuserOf = ({ before, after, notVisible }: Graphs): Excuse => {
  const byId = (graph: AccessGraph) => new Map(namedRecordsIn(graph).map((one) => [one.id, one]));
  const [olds, news] = [byId(before), byId(after)];
  return (allowance, { finding, node = "", isNew = false }) => {
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
const namesOf = ({ uid, name, path }: NamedRecord): (string | null)[] => [name, path, path.replace(/^\//, ""), uid];

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
