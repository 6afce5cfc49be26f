// The review of a proposal: the changes for each identity, and the findings of the rules.
import type { OtherBranch } from "../base/base.ts";
import { compare, equalityKey } from "../canonical.ts";
import { changesAssumption, findingsInOrder, subjectsInOrder, worstFirst } from "../graph/danger.ts";
import { accessChange, effectsIn, type IdentityChange } from "../graph/effective-access.ts";
import { groupNameOf, type IdentityNode, type NodeId } from "../graph/graph.ts";
import { type Live, type NotVisible, notVisibleRows } from "../graph/live.ts";
import { pathChange } from "../paths/find.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import { pullTokensIn } from "../query/pull-tokens.ts";
import { assumptionOf } from "./assume.ts";
import { hiddenRules, unreadableRoles, unreadableWorkloads } from "./hidden.ts";
import { findBroken, type Judged, judge, unknownSubjects } from "./judge.ts";
import { deletedGroupsOf, expiringKeysOf, forcedRows, nameIn, pathRows, rowsOf, undeclaredRows } from "./lists.ts";
import { organizationsOf } from "./organizations.ts";
import { existedBefore, type PeopleInput, peopleInputOf, peopleReviewsOf } from "./people.ts";
import type { Proposal, UnknownPart } from "./proposal.ts";
import { replacementsIn } from "./replaced.ts";
import {
  type Finding,
  type FindingList,
  type IdentityReview,
  NO_RUN,
  type Report,
  type Review,
  RULES,
  type RuleName,
  type RulesSource,
  type RunReport,
  type TestResult,
} from "./report.ts";
import type { Found, RuleInput } from "./rule.ts";
import { RULES_OF_PEOPLE, rules } from "./rules.ts";
import type { Required, Verdict } from "./rules-file.ts";
import { mostBetween, transientIn } from "./transient.ts";

interface ReviewOptions extends Verdict {
  notVisible: readonly NotVisible[];
  /** static keys that end within 30 days from then are listed */
  nowMs: number;
  /** of the live records; default: not known */
  times?: Pick<Live, "createdAt" | "lastSeen">;
  rules?: RulesSource;
  /** the edits of the rules in the change, by file */
  changedRules?: readonly ChangedRules[];
  /** the change targets another branch than that of the rules */
  otherBranch?: OtherBranch;
  /** address of the API, for the requests of paths; default: none */
  service?: string;
  /** of access, on the state after the change */
  tests?: readonly TestResult[];
  /** the run that the proposal comes from */
  run?: RunReport;
}

export interface ChangedRules {
  file: string;
  message: string;
  list?: FindingList;
}

export const reviewOf = (proposal: Proposal, options: ReviewOptions): Review => {
  const {
    notVisible,
    nowMs,
    times,
    rules: source,
    changedRules = [],
    tests = [],
    service = "",
    otherBranch,
    run = NO_RUN,
    ...verdict
  } = options;
  const { before, after } = proposal;
  const changes = accessChange(before, after);
  const reassumed = [...after.identities.values()].filter(({ id, relationship }) => {
    const old = before.identities.get(id);
    return relationship !== null && equalityKey(relationship) !== equalityKey(old?.relationship ?? null);
  });
  const budget = newReviewBudget();
  const replacements = replacementsIn(proposal, budget);
  const people = peopleInputOf(proposal, nowMs, budget);
  const most = mostBetween(before, after);
  const transient = transientIn(before, after, most, budget);
  const changed = { ...proposal, changes, most, transient, replacements, reassumed, budget };
  // If neither access nor who can assume an identity changes, no path does.
  const isChanged = [changes, reassumed, replacements, people.changes].some(({ length }) => length > 0);
  const { opens, closes, notSearched } = isChanged
    ? pathChange(before, after, { notVisible, audience: service, nowMs })
    : { opens: [], closes: [], notSearched: [] };
  const input: RuleInput = { ...changed, opened: opens };
  const unknown = [
    ...proposal.unknown,
    ...unreadableRoles(input, "identity "),
    ...unreadableRoles(people),
    ...unreadableWorkloads(input),
    // An incomplete search may hide any path.
    ...notSearched.map((message): UnknownPart => ({ subject: "", message, hides: { of: "paths" } })),
  ];
  const graphs = { before, after, notVisible };
  const found: Judged[] = [
    ...(otherBranch ? [{ finding: otherBranchFinding(otherBranch) }] : []),
    ...changedRules.map(({ file, ...text }) => ({
      finding: { rule: "rules-changed" as const, subject: file, name: file, ...text },
    })),
    ...tests.flatMap(({ name, passed, failedBefore, reason = "", list }) =>
      passed || failedBefore
        ? []
        : [{ finding: { rule: "test-fails" as const, subject: name, name, message: reason, list } }],
    ),
    ...findingsOf(input, people),
    ...subjectsOf(input, findBroken(proposal, verdict.required ?? {}, notVisible)),
    ...possibleFindings(input, unknown, verdict.required ?? {}),
  ];
  const subjects = [
    ...found.flatMap(({ finding }) => [finding.subject, finding.name]),
    ...tests.map(({ name }) => name),
    ...[people.before, people.after].flatMap(({ identities }) => [...identities.values()].map(({ name }) => name)),
  ];
  const [identities, subjectsOfPeople] = [identitiesOf(input, notVisible), peopleReviewsOf(people)];
  const findings = findingsInOrder(judge(found, verdict, graphs), [...identities, ...subjectsOfPeople]);
  const report: Report = {
    ...run,
    organizations: organizationsOf(input, people, unknown.length + notVisible.length === 0),
    identities: subjectsInOrder(identities, findings),
    people: subjectsInOrder(subjectsOfPeople, findings),
    findings,
    opens: pathRows(after, opens),
    closes: pathRows(before, closes),
    deletedGroups: deletedGroupsOf(input),
    adopted: worstFirst(
      proposal.adopted.map((one) => ({ ...one, name: nameIn(before, one.uid) })),
      ({ resource, uid }) => ({ texts: [resource, uid] }),
    ),
    forceDestroy: forcedRows(proposal),
    undeclared: undeclaredRows(proposal),
    expiringKeys: expiringKeysOf(after, nowMs),
    pullTokens: pullTokensIn({ ...times, graph: before, notVisible: [...notVisible] }, nowMs).filter(
      ({ binding }) => binding !== null && !after.bindings.has(binding),
    ),
    unknown: unknown.map(({ hides: _hides, about: _about, ...own }) => own),
    notVisible: notVisibleRows(before, notVisible),
    tests: tests.length > 0 ? [...tests] : undefined,
    rules: source,
  };
  return {
    report,
    before,
    after,
    people: { before: people.before, after: people.after },
    unknownSubjects: unknownSubjects(verdict.allow, graphs, subjects),
  };
};

const otherBranchFinding = ({ target = "unknown", main }: OtherBranch): Finding => ({
  rule: "other-branch",
  subject: target,
  name: target,
  message: `this change is to be merged into another branch than ${main}, which rules and tests come from; propose it to ${main}, or let the job name the branch`,
});

const identitiesOf = (
  { before, after, changes, replacements, budget }: RuleInput,
  notVisible: readonly NotVisible[],
): IdentityReview[] => {
  const effectOf = effectsIn(after);
  // A hidden role binding may be one to owner.
  const isHidden = notVisible.some(({ kind }) => kind === "roleBinding");
  const rows = new Map<NodeId, IdentityChange>(changes.map((one) => [one.identity, one]));
  const isReplaced = new Set(replacements.map(({ old }) => old.id));
  const changeOf = (old?: IdentityNode, now?: IdentityNode): IdentityReview["change"] => {
    if (!old) return now ? "created" : "none";
    if (!now) return isReplaced.has(old.id) ? "replaced" : "deleted";
    const isSame = old.name === now.name && equalityKey(old.relationship) === equalityKey(now.relationship);
    return isSame ? "none" : "updated";
  };
  const ids = new Set([...rows.keys(), ...before.identities.keys(), ...after.identities.keys()]);
  return [...ids].flatMap((id): IdentityReview[] => {
    const [old, now] = [before.identities.get(id), after.identities.get(id)];
    const [latest, row, change] = [now ?? old, rows.get(id), changeOf(old, now)];
    if (!row && change === "none") return [];
    const [was, is] = [old?.relationship ?? null, now?.relationship ?? null];
    const review: IdentityReview = {
      uid: latest ? latest.uid : id,
      name: latest?.name ?? id,
      nameBefore: old && now && old.name !== now.name ? old.name : undefined,
      groupName: latest ? groupNameOf(now ? after : before, latest.group) : "",
      change,
      gains: rowsOf(after, row?.gains ?? []),
      losses: rowsOf(before, row?.losses ?? [], after),
      assumableBefore: was,
      assumableAfter: is,
      before: assumptionOf(was, budget),
      after: assumptionOf(is, budget),
    };
    return [changesAssumption(review) ? { ...review, ...(isHidden ? { effect: "grant" } : effectOf(id)) } : review];
  });
};

const findingsOf = (input: RuleInput, people: PeopleInput): Judged[] =>
  (Object.entries(rules) as [RuleName, (typeof rules)[RuleName]][]).flatMap(([rule, find = () => []]) => [
    ...subjectsOf(
      input,
      find(input).map((found) => ({ ...found, rule })),
    ),
    // An allowance names records by uid or path, and these are not records.
    ...(RULES_OF_PEOPLE.includes(rule) ? find(people) : []).flatMap((found) =>
      subjectsOf(people, [{ ...found, rule }]).map(({ finding }) => ({
        finding,
        isNew: !existedBefore(people, found.subject),
      })),
    ),
  ]);

/** Possible findings of the rules in the unknown parts, in their order. */
const possibleFindings = (input: RuleInput, unknown: readonly UnknownPart[], required: Required): Judged[] => {
  const possible = unknown.flatMap((one) => hiddenRules(one, input, required).map((rule) => ({ rule, ...one })));
  return RULES.flatMap((rule) => possible.filter((one) => one.rule === rule)).flatMap(
    ({ rule, about, subject, message }) => {
      const found = { rule, subject: about ?? subject, message: `possible, since it is not known: ${message}` };
      return subjectsOf(input, [found]).map(({ finding, ...own }) => ({
        ...own,
        finding: { ...finding, unknown: true as const },
      }));
    },
  );
};

/** Adds the name and uid of each finding's subject. */
const subjectsOf = (
  { before, after, most }: Pick<RuleInput, "before" | "after" | "most">,
  found: readonly (Found & { rule: RuleName })[],
): Judged[] =>
  found
    .map(({ rule, subject: id, ...text }) => {
      const node = [after, before, most]
        .flatMap(({ identities, groups, roles }) => [identities, groups, roles])
        .map((nodes) => nodes.get(id))
        .find((one) => one !== undefined);
      const name = node?.name ?? id;
      const subject = node ? (node.uid ?? name) : id;
      return { finding: { rule, subject, name, ...text }, node: node && id };
    })
    .sort(
      ({ finding: a }, { finding: b }) =>
        compare(a.name, b.name) || compare(a.subject, b.subject) || compare(a.message, b.message),
    );
