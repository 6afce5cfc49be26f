// The differences between a program and the service: a pure function of the run of the program on a copy, of the copy, and of the journals.

import { ourTypeOf, partsOfUrn, stackOfUrn } from "../../pulumi/urn.ts";
import { SECRET, valuesIn } from "../../pulumi/value.ts";
import { isUidp, type Json, resources, rootOf } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { type DriftReport, type EndingKey, type PendingCreate, PULL_TOKENS } from "../format/drift.ts";
import { worstFirst } from "../graph/danger.ts";
import { type AccessGraph, nameOf, pathOf } from "../graph/graph.ts";
import { type Live, notVisibleRows } from "../graph/live.ts";
import { holdsPullsAlone, type PullToken, pullTokensIn } from "../query/pull-tokens.ts";
import { expiringKeysOf } from "../review/lists.ts";
import type { Origin } from "../review/report.ts";
import { unique } from "../review/services.ts";
import { roleChanges } from "../roles/change.ts";
import type { RunRecord } from "../run/record.ts";
import { driftIn, subjectOf, wordOf } from "./changes.ts";
import { type DriftFacts, type DriftService, withoutSecretNames } from "./facts.ts";
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
  const all = <K extends keyof Part>(name: K) => parts.flatMap((part) => part[name] as unknown[]) as Part[K];
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
const failedIn = ({ steps, notRun }: RunRecord, listed: ReadonlySet<string>) =>
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

// Creates that an interrupted run left open: in the journals of this machine, and in the engine's state, which all machines share. An
// update under way also has open creates.

/** A create of a journal without an outcome. */
export interface JournalEntry {
  /** organization/project/stack/Type::name */
  key: string;
  /** `roleBinding` */
  kind: string;
  /** uid of the group; "" at the root */
  parent: string;
  /** when it was sent, in milliseconds */
  at: number;
  /** the record that the response named */
  answered?: string;
}

/** `graphs`: of the services */
export const pendingIn = (
  { run: { left, steps, begun }, preview }: DriftFacts,
  entries: readonly JournalEntry[],
  graphs: readonly AccessGraph[],
): PendingCreate[] => {
  const urns = new Map([...left, ...steps].map(({ urn }) => [journalName(urn), urn]));
  const planned = new Map(left.map(({ urn, inputs }) => [urn, valuesIn(inputs as Json)]));
  const stack = stackOfUrn(preview.steps[0]?.urn);
  /** With the name of the record and the path of its group, if they are known. */
  const named = (one: Omit<PendingCreate, "name"> & { name: unknown }): PendingCreate => {
    const { name, group } = one;
    const graph = graphs.find(({ groups }) => group !== null && groups.has(group));
    const groupName = graph && group !== null ? pathOf(graph, group) : null;
    return { ...one, name: typeof name === "string" && name !== SECRET ? name : null, groupName };
  };
  const fromJournal = entries
    .filter(({ key }) => stack === undefined || key.split("/").slice(1, 3).join("/") === stack)
    .map(({ key, kind, parent, at, answered }) => {
      const logical = logicalNameIn(key);
      const resource = urns.get(logical) ?? null;
      return named({
        resource,
        logicalName: logical.replace(/^.*?::/, ""),
        kind: Object.values(resources).find(({ field }) => field === kind)?.word ?? kind,
        uid: answered ?? null,
        name: planned.get(resource ?? "")?.name,
        group: parent || null,
        groupName: null,
        time: new Date(at).toISOString(),
        source: "journal",
      });
    });
  const known = new Set(fromJournal.map(({ resource }) => resource));
  const fromState = begun
    .filter(({ urn }) => ourTypeOf(urn) !== undefined && !known.has(urn))
    .map(({ urn, inputs }) => {
      const { name, parent } = valuesIn(inputs as Json);
      return named({
        resource: urns.has(journalName(urn)) ? urn : null,
        logicalName: partsOfUrn(urn).name,
        kind: wordOf(ourTypeOf(urn) as string),
        ...{ uid: null, name, group: isUidp(parent) ? parent : null, groupName: null },
        ...{ time: null, source: "state" },
      });
    });
  return worstFirst([...fromJournal, ...fromState], ({ groupName, logicalName, kind, time }) => ({
    place: groupName ?? undefined,
    texts: [logicalName, kind, time],
  }));
};

/** `Group::team`, the end of a key of the journal. */
const journalName = (urn: string) => `${ourTypeOf(urn)}::${partsOfUrn(urn).name}`;

/** The key of a set ends with the uids of group, identity and role. */
const logicalNameIn = (key: string) =>
  key
    .split("/")
    .slice(3)
    .join("/")
    .replace(/(?: [0-9a-f]{40}(?:\/[0-9a-f]{16})*){3}$/, "");
