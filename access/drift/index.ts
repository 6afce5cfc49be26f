// The differences between a program and the service: a pure function of the run of the program on a copy, of the copy, and of the journals.

import { ourTypeOf, partsOfUrn } from "../../pulumi/urn.ts";
import { isUidp, rootOf } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { type DriftReport, type EndingKey, PULL_TOKENS } from "../format/drift.ts";
import { nameOf } from "../graph/graph.ts";
import { type Live, notVisibleRows } from "../graph/live.ts";
import { holdsPullsAlone, type PullToken, pullTokensIn } from "../query/pull-tokens.ts";
import { expiringKeysOf } from "../review/lists.ts";
import type { Origin } from "../review/report.ts";
import { unique } from "../review/services.ts";
import { roleChanges } from "../roles/change.ts";
import type { RunRecord } from "../run/record.ts";
import { driftIn, subjectOf } from "./changes.ts";
import { type DriftFacts, type DriftService, withoutSecretNames } from "./facts.ts";
import { type JournalEntry, pendingIn } from "./pending.ts";
import { undeclaredIn } from "./undeclared.ts";

export interface DriftInput extends DriftFacts {
  /** what is compared, where and when */
  origin?: Origin;
  /** at least one */
  services: readonly DriftService[];
  /** the open creates of the journals, of any stack */
  entries: readonly JournalEntry[];
  /** uids of the calling identities */
  callers: ReadonlySet<string>;
  /** uids of records that are declared elsewhere, and PULL_TOKENS */
  allowed: ReadonlySet<string>;
  nowMs: number;
}

export const driftOf = (input: DriftInput): DriftReport => {
  const { origin, run, preview, entries } = input;
  const services = input.services.map((one) => ({ ...one, live: withoutSecretNames(run, one.live) }));
  const graphs = services.map(({ live }) => live.graph);
  const parts = services.map((one) => partOf(input, one));
  const all = <K extends keyof Part>(name: K): Part[K] => parts.flatMap((part) => part[name] as unknown[]) as Part[K];
  const drift = all("drift");
  const listed = new Set(drift.map(({ resource }) => resource));
  return {
    origin: origin && { ...origin, organizations: all("organizations").sort(compare) },
    drift,
    undeclared: all("undeclared"),
    roles: all("roles"),
    keys: all("keys"),
    pullTokens: all("pullTokens"),
    pending: pendingIn({ run, preview }, entries, graphs),
    unknown: unique([
      ...[...preview.doubts, ...run.errors].map((message) => ({ subject: "", message })),
      ...failedIn(run, listed),
      ...all("unknown"),
    ]),
    notVisible: all("notVisible"),
  };
};

type Part = Omit<DriftReport, "origin" | "pending"> & { organizations: string[] };

/** The part of the report about one service. */
const partOf = ({ run, preview, callers, allowed, nowMs }: DriftInput, service: DriftService): Part => {
  const { address, live, proposal, recorded, missing } = service;
  const { drift, removed, unexplained } = driftIn({ run, preview }, service);
  const isHere = (uid: string) => proposal.organizations?.has(rootOf(uid)) ?? false;
  const pullTokens = pullTokensIn(live, nowMs).filter(({ uid, group }) => isHere(uid) || isHere(group));
  const pulls = pullTokens.filter(holdsPullsAlone);
  const holders = new Set(pulls.map(({ uid }) => uid));
  const excused = allowed.has(PULL_TOKENS) ? new Set([...allowed, ...pulls.flatMap(ownBinding)]) : allowed;
  return {
    organizations: [...(proposal.organizations ?? [])].map((id) => nameOf(live.graph.groups, id)),
    drift,
    undeclared: undeclaredIn({ run, proposal, live, removed, callers, allowed: excused, nowMs }),
    roles: roleChanges(address, live, recorded, nowMs),
    keys: keysIn(run, live, isHere, nowMs).filter(({ resource, uid }) => resource !== null || !holders.has(uid)),
    pullTokens,
    unknown: [
      ...[...(missing === undefined ? [] : [missing]), ...unexplained].map((message) => ({ subject: "", message })),
      // The others are about the access that an update would give.
      ...proposal.unknown.flatMap(({ hides, about: _, ...own }) => (hides?.of === "anything" ? [own] : [])),
    ],
    notVisible: notVisibleRows(live.graph, live.notVisible),
  };
};

/** Steps that the run could not carry out: the resulting record is unknown. A line of the record says more. */
const failedIn = ({ steps, notRun }: RunRecord, listed: ReadonlySet<string>): DriftReport["unknown"] =>
  [...steps.map(({ urn, ok, error }) => ({ urn, why: ok ? undefined : error })), ...notRun].flatMap(({ urn, why }) =>
    why === undefined || listed.has(urn)
      ? []
      : [{ subject: partsOfUrn(urn).name, message: `${subjectOf(urn)}: ${why}` }],
  );

/** A binding counts only within one organization: otherwise another organization decides who has its tokens. */
const ownBinding = ({ uid, group, binding }: PullToken) =>
  binding !== null && rootOf(uid) === rootOf(group) ? [binding] : [];

/** The ending keys of the program's organizations. */
const keysIn = (
  { stored, left }: RunRecord,
  { graph }: Live,
  isHere: (uid: string) => boolean,
  nowMs: number,
): EndingKey[] => {
  const urns = new Map(
    [...stored, ...left].flatMap(({ urn, id }) =>
      ourTypeOf(urn) === "Identity" && isUidp(id) ? [[id, urn] as const] : [],
    ),
  );
  return expiringKeysOf(graph, nowMs).flatMap(({ uid, ...key }) =>
    uid !== null && isHere(uid) ? [{ resource: urns.get(uid) ?? null, uid, ...key }] : [],
  );
};
