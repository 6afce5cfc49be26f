// What differs between a program and the service: a pure function of a preview, the API's lists, the journal and the engine's state.
import { isUidp, rootOf } from "../../schema/index.ts";
import { compare } from "../graph/compare.ts";
import type { Live } from "../graph/live.ts";
import { planFrom } from "../preview/plan.ts";
import type { Preview } from "../preview/shape.ts";
import { ourTypeOf } from "../preview/urn.ts";
import { holdsPullsAlone, type PullToken, pullTokensIn } from "../query/pull-tokens.ts";
import { expiringKeysOf, notVisibleRows } from "../review/lists.ts";
import type { Proposal } from "../review/proposal.ts";
import type { Origin } from "../review/report.ts";
import { roleChanges } from "../roles/change.ts";
import type { LockedRoles } from "../roles/lock.ts";
import { driftIn } from "./changes.ts";
import { type JournalEntry, pendingIn } from "./pending.ts";
import { type DriftReport, type EndingKey, PULL_TOKENS } from "./report.ts";
import { withoutSecretNames } from "./secret-names.ts";
import { undeclaredIn } from "./undeclared.ts";

export interface DriftInput {
  /** what is compared, where and when */
  origin?: Origin;
  /** with --refresh and --show-sames */
  preview: Preview;
  live: Live;
  /** what each of the services returned, with the built-in roles that are written down for it */
  services: readonly { address: string; live: Live; recorded: LockedRoles; missing?: string | undefined }[];
  /** the open creates of the journals, of any stack */
  entries: readonly JournalEntry[];
  /** what `pulumi stack export` prints */
  exported: string | undefined;
  /** uids of the identities that ask */
  callers: ReadonlySet<string>;
  /** uids of what is declared elsewhere, and PULL_TOKENS */
  allowed: ReadonlySet<string>;
  nowMs: number;
}

export const driftOf = ({
  origin,
  preview,
  live: listed,
  services,
  entries,
  exported,
  callers,
  allowed,
  nowMs,
}: DriftInput): DriftReport => {
  const live = withoutSecretNames(preview, listed);
  const proposal = planFrom(preview, live);
  const { drift, removed } = driftIn(preview, proposal.before);
  const pullTokens = pullTokensIn(live, nowMs).filter(({ uid, group }) =>
    [uid, group].some((one) => proposal.organizations?.has(rootOf(one))),
  );
  const pulls = pullTokens.filter(holdsPullsAlone);
  const holders = new Set(pulls.map(({ uid }) => uid));
  const excused = allowed.has(PULL_TOKENS) ? new Set([...allowed, ...pulls.flatMap(ownBinding)]) : allowed;
  const organizations = [...(proposal.organizations ?? [])].map((id) => live.graph.groups.get(id)?.name ?? id);
  return {
    ...(origin && { origin: { ...origin, organizations: organizations.sort(compare) } }),
    drift,
    undeclared: undeclaredIn({ preview, proposal, live, removed, callers, allowed: excused, nowMs }),
    roles: services.flatMap(({ address, live: own, recorded }) =>
      roleChanges(address, withoutSecretNames(preview, own), recorded, nowMs),
    ),
    keys: keysIn(preview, live, proposal, nowMs).filter(({ resource, uid }) => resource !== null || !holders.has(uid)),
    pullTokens,
    pending: pendingIn(preview, entries, exported, live.graph),
    // The rest is about the access that an update would give.
    unknown: [
      ...preview.doubts.map((message) => ({ subject: "", message })),
      ...services.flatMap(({ missing }) => (missing === undefined ? [] : [{ subject: "", message: missing }])),
      ...proposal.unknown.flatMap(({ hides, about: _, ...own }) => (hides?.of === "anything" ? [own] : [])),
    ],
    notVisible: notVisibleRows(live.graph, live.notVisible),
  };
};

/** Another organization decides who has its tokens. */
const ownBinding = ({ uid, group, binding }: PullToken): string[] =>
  binding !== null && rootOf(uid) === rootOf(group) ? [binding] : [];

/** Of the organizations that the program is about. */
const keysIn = ({ steps }: Preview, { graph }: Live, { organizations }: Proposal, nowMs: number): EndingKey[] => {
  const urns = new Map(
    steps
      .filter(({ urn }) => ourTypeOf(urn) === "Identity")
      .flatMap(({ urn, oldState, newState }) =>
        [oldState?.id, newState?.id].filter(isUidp).map((uid) => [uid, urn] as const),
      ),
  );
  return expiringKeysOf(graph, nowMs).flatMap(({ uid, ...key }) =>
    uid !== null && organizations?.has(rootOf(uid)) ? [{ resource: urns.get(uid) ?? null, uid, ...key }] : [],
  );
};
