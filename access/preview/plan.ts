// Access before and after a preview: what the API says now, and the same with the engine's steps applied.
import { isAncestorOrSelf, isRoot, parentOf, printable, rootOf } from "../../schema/index.ts";
import { compare } from "../graph/compare.ts";
import { type GraphBuilder, type NodeId, newGraph } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { type HeldRecord, type HeldRecords, NOTHING_HELD } from "../graph/live-contents.ts";
import { type IsVisible, visibilityIn } from "../graph/visible.ts";
import {
  type AdoptedRecord,
  type ForcedRecord,
  isCertain,
  type Proposal,
  type UnknownPart,
} from "../review/proposal.ts";
import { applyRecord } from "./apply-record.ts";
import { applySet } from "./apply-set.ts";
import { type BlockedContext, groupsToDelete, isForced, restoreBlocked } from "./blocked.ts";
import { showStoredMapping } from "./external-group.ts";
import { showStoredPeople } from "./people.ts";
import { storedGroup, storedIdentity, storedRole } from "./record.ts";
import { recordsIn } from "./records.ts";
import { nodeOf } from "./reference.ts";
import { removeRecord } from "./remove-record.ts";
import { groupHolding, NODES, ORDER, type Resource, resourcesIn, type Stored, wordOf } from "./resource.ts";
import { findRestored } from "./restored.ts";
import type { IsHere } from "./service.ts";
import { managedBindings } from "./set.ts";
import type { Preview } from "./shape.ts";
import { isDynamicUrn, ourTypeOf } from "./urn.ts";
import { isOrMayBe } from "./value.ts";
import { report, type Work } from "./work.ts";

/** The groups that the run deletes: `planFrom` asks what they hold, which is in the way or goes with them. */
export const deletedGroupsIn = (preview: Preview, isHere?: IsHere): string[] =>
  groupsToDelete(resourcesIn(preview, isHere).byUrn.values()).map(({ uid }) => uid);

/** `held` is what is in those groups beside the graph. `isHere`: of several services, the one that `live` is of; default: it is the only one. */
export const planFrom = (preview: Preview, live: Live, held: HeldRecords = NOTHING_HELD, isHere?: IsHere): Proposal => {
  const { byUrn, unclear, deletedElsewhere } = resourcesIn(preview, isHere);
  // The engine works on several resources at once: the order of its steps changes from run to run.
  const sorted = [...byUrn.values()].sort((a, b) => compare(a.urn, b.urn));
  const resources = ORDER.flatMap((kind) => sorted.filter((one) => one.kind === kind));
  const before = newGraph(live.graph);
  const isVisible = visibilityIn(live.graph, live.notVisible);
  for (const resource of resources)
    for (const stored of [resource.stored, ...resource.deleted])
      if (stored) showStored(before, resource, stored, isVisible);
  const records = recordsIn(byUrn, before);
  const work: Work = {
    records,
    before,
    after: newGraph(before),
    isVisible,
    unknown: unclear
      .sort((a, b) => compare(a.subject, b.subject) || compare(a.message, b.message))
      .map((one) => ({ ...one, hides: { of: "anything" } })),
    declared: new Set(),
  };
  for (const resource of records.unclear)
    report(work, resource, "uid", "its step shows the uid of another record", { of: "anything" });
  for (const resource of resources) remove(work, resource);
  for (const resource of resources) apply(work, resource);
  const restored = findRestored(before, work.after, resources);
  const { blocked, after } = restoreBlocked(work, resources, { held, deletedElsewhere });
  const isBlocked = new Set(blocked.filter(isCertain).map(({ uid }) => uid));
  const deleted = new Set(
    resources.flatMap((one) => deletedRecordsOf(one).flatMap(({ uid }) => (isBlocked.has(uid) ? [] : [uid]))),
  );
  return {
    source: "preview",
    before,
    after,
    replaced: replacementsIn(resources, deleted),
    restored,
    adopted: resources.flatMap(adoptionsOf),
    forced: resources.flatMap((one) => forcedRecordsOf(one, { held, deletedElsewhere })),
    blocked,
    deleted,
    undeclared: findUndeclared({ ...work, after }, preview, resources),
    organizations: organizationsOf(resources),
    unknown: [
      ...preview.unreadable.map(
        (text): UnknownPart => ({
          subject: "",
          message: `a step of the preview cannot be read: ${text}`,
          hides: { of: "anything" },
        }),
      ),
      ...preview.doubts.map((message): UnknownPart => ({ subject: "", message })),
      ...work.unknown,
      ...unseenInForced(resources, held),
      ...limitsOf(preview, resources),
    ],
  };
};

/** What the engine's state has and the API does not list, in a group where the caller cannot list it. */
const showStored = (graph: GraphBuilder, { kind }: Resource, stored: Stored, isVisible: IsVisible): void => {
  const { uid, outputs } = stored;
  const place = parentOf(uid);
  const parent = isRoot(uid) ? null : place;
  // A group that is not listed is there by its uid, when it holds one that is.
  const isListed = graph.groups.has(uid) && graph.groups.get(uid)?.name !== uid;
  if (kind === "group" && !isListed && !isVisible("group", place || uid))
    graph.groups.set(uid, storedGroup(stored, parent));
  if (kind === "identity" && !isVisible("identity", place)) graph.identities.set(uid, storedIdentity(stored, place));
  if (kind === "role" && !isVisible("role", place)) graph.roles.set(uid, storedRole(stored, place));
  if ((kind === "identityProvider" || kind === "groupInvite") && !isVisible(kind, place))
    showStoredPeople(graph, kind, stored);
  if (kind === "externalGroupRoleMapping" && !isVisible(kind, groupHolding(kind, uid)))
    showStoredMapping(graph, stored);
  const bindings =
    kind === "roleBinding"
      ? managedBindings({ bindings: [{ ...outputs, uid }] }, place)
      : managedBindings(outputs, uid);
  if (
    (kind === "roleBinding" && !isVisible("roleBinding", place)) ||
    (kind === "roleBindingSet" && !isVisible("roleBinding", uid))
  )
    for (const binding of bindings) if (!graph.bindings.has(binding.id)) graph.bindings.set(binding.id, binding);
};

/** The records that its steps delete; an adopted or retained one stays. */
const deletedRecordsOf = ({ deleted }: Resource): Stored[] => deleted.filter(({ stays }) => !stays);

const remove = ({ after, declared }: Work, resource: Resource): void => {
  for (const stored of resource.deleted) {
    const { uid, outputs, stays } = stored;
    if (resource.kind === "roleBindingSet") {
      for (const { id } of managedBindings(outputs, uid)) {
        declared.add(id);
        after.bindings.delete(id);
      }
      continue;
    }
    if (resource.kind === "roleBinding") declared.add(uid);
    if (stays) continue;
    // What these take along goes last, if it does.
    if (resource.kind === "group") after.groups.delete(uid);
    else if (resource.kind === "identity") after.identities.delete(uid);
    else if (resource.kind === "identityProvider") after.providers.delete(uid);
    else removeRecord(after, uid);
  }
};

const apply = (work: Work, resource: Resource): void => {
  const { planned, kind } = resource;
  if (!planned || planned.op === "read") return;
  if (isMissing(work, resource)) {
    const message = `the engine's state has this ${wordOf(kind)}, and the API does not: it was removed since, or the preview is of another service. Run npx pulumi-irm review without --preview`;
    work.unknown.push({ subject: resource.logicalName, message });
    return;
  }
  if (kind === "roleBindingSet") applySet(work, resource);
  else if (planned.op !== "same" || !isListed(work, resource)) applyRecord[kind](work, resource);
};

/** A record that stays is as the API lists it, also where it differs from the program. */
const isListed = ({ after }: Work, { kind, planned }: Resource): boolean =>
  kind !== "roleBinding" && kind !== "roleBindingSet" && after[NODES[kind]].has(planned?.uid ?? "");

/** The engine expects a record that the API does not have. */
const isMissing = ({ before, isVisible }: Work, { kind, planned }: Resource): boolean => {
  const uid = planned?.uid;
  if (uid === undefined) return false;
  // A set has the uid of its group, and an organization is in no group.
  const listedKind = kind === "roleBindingSet" ? "group" : kind;
  return isVisible(listedKind, groupHolding(listedKind, uid) || uid) && !before[NODES[listedKind]].has(uid);
};

/** `deleted`: an old identity that stays beside the new one is not replaced by it. */
const replacementsIn = (resources: readonly Resource[], deleted: ReadonlySet<string>): Map<NodeId, NodeId> =>
  new Map(
    resources.flatMap((one) => {
      const [old] = deletedRecordsOf(one);
      return one.kind === "identity" && one.planned && old && deleted.has(old.uid) ? [[old.uid, nodeOf(one)]] : [];
    }),
  );

const adoptionsOf = ({ kind, logicalName, planned }: Resource): AdoptedRecord[] => {
  if (planned?.op !== "create" || planned.uid === undefined) return [];
  const { interruptedAt, inputs, uid } = planned;
  const deletedLater = interruptedAt !== undefined || isOrMayBe(inputs.deleteAdopted);
  const record = { kind: wordOf(kind), uid, resource: logicalName, deletedLater };
  return [interruptedAt === undefined ? record : { ...record, interruptedAt }];
};

const forcedRecordsOf = (resource: Resource, { held, deletedElsewhere }: BlockedContext): ForcedRecord[] => {
  const { kind, logicalName, planned, stored } = resource;
  const record = { kind: wordOf(kind), resource: logicalName };
  const now = deletedRecordsOf(resource)
    .filter(isForced)
    .map(({ uid }) => {
      const isTaken = (one: HeldRecord): boolean =>
        isAncestorOrSelf(uid, one.group) && !deletedElsewhere.has(`${one.kind} ${one.uid}`);
      return { ...record, uid, node: uid, deletes: true, held: held.records.filter(isTaken) };
    });
  const isNew = isOrMayBe(planned?.inputs.forceDestroy) && !isOrMayBe(stored?.inputs.forceDestroy);
  const later = { ...record, uid: planned?.uid ?? null, node: nodeOf(resource), deletes: false };
  return isNew ? [...now, later] : now;
};

/** What a deletion takes along, and the caller cannot list. */
const unseenInForced = (resources: readonly Resource[], { unseen }: HeldRecords): UnknownPart[] =>
  groupsToDelete(resources).flatMap(({ uid, resource, stored }) => {
    const kinds = isForced(stored) ? (unseen.get(uid) ?? []) : [];
    if (kinds.length === 0) return [];
    const message = `group ${printable(resource)}: forceDestroy may delete ${kinds.join(" and ")} that you cannot list there`;
    return [{ subject: resource, property: "forceDestroy", message }];
  });

const hasSames = ({ steps, summary }: Preview): boolean =>
  steps.filter(({ op }) => op === "same").length >= (summary.same ?? 0);

/** The organizations of the records that the program has, had and creates. */
const organizationsOf = (resources: readonly Resource[]): Set<NodeId> =>
  new Set(
    resources
      .flatMap(({ planned, stored, deleted }) => [
        planned?.uid,
        planned?.inputs.parent,
        stored?.uid,
        ...deleted.map(({ uid }) => uid),
      ])
      .flatMap((uid) => (typeof uid === "string" ? [rootOf(uid)] : [])),
  );

/** Only of a preview that shows all resources: otherwise what it leaves out would count. */
const findUndeclared = ({ after, declared }: Work, preview: Preview, resources: readonly Resource[]): NodeId[] => {
  if (!hasSames(preview)) return [];
  const roots = organizationsOf(resources);
  return [...after.bindings.values()]
    .filter(({ id, uid, group }) => uid !== null && roots.has(group.split("/", 1)[0] as string) && !declared.has(id))
    .map(({ id }) => id);
};

/** A preview shows each of these steps: one that counts more of them was shortened. */
const SHOWN_OPS = ["create", "update", "delete"];

const omissionsIn = ({ steps, summary }: Preview): string[] =>
  SHOWN_OPS.flatMap((op) => {
    const shown = steps.filter((step) => step.op === op).length;
    const counted = summary[op] ?? 0;
    if (shown >= counted) return [];
    return [
      `the preview counts ${counted} steps "${op}" and shows ${shown}: what the others change is not in this review`,
    ];
  });

/** A component has neither id nor record. */
const isRecord = (urn: string): boolean => ![undefined, "AccessPolicy"].includes(ourTypeOf(urn));

/** It shows each resource and each step. */
export const isWhole = (preview: Preview): boolean => hasSames(preview) && omissionsIn(preview).length === 0;

/** What this preview cannot say, because of how it was made. */
const limitsOf = (preview: Preview, resources: readonly Resource[]): UnknownPart[] => {
  const existed = resources.filter(
    ({ planned, deleted }) => deleted.length > 0 || (planned && planned.op !== "create"),
  );
  const isRefreshed = preview.steps.some(({ op }) => op === "refresh") || (existed.length === 0 && hasSames(preview));
  const skipped = preview.steps.filter(
    ({ op, urn, oldState, newState }) =>
      op === "same" && isRecord(urn) && !oldState?.id && !newState?.id && !newState?.inputs,
  );
  const dynamic = preview.steps.filter(
    ({ op, urn }) => isDynamicUrn(urn) && ourTypeOf(urn) === undefined && !["same", "refresh"].includes(op),
  );
  const others = [
    dynamic.length > 0 &&
      `dynamic resources that are not of this package (${dynamic.length}) run code of this change in the update, and what it does is not in this review`,
    skipped.length > 0 &&
      `the preview was made with --target or --exclude: it leaves out ${skipped.length} new ${skipped.length === 1 ? "resource" : "resources"}, which a run without that option creates`,
    !isRefreshed &&
      "the preview was made without --refresh: a binding that somebody removed by hand looks unchanged in it; this run does not create it again, but a later one may",
    !hasSames(preview) &&
      "the preview was made without --show-sames: it leaves out the resources that stay, so this review cannot tell which access nothing declares",
  ].flatMap((message) => (message ? [{ subject: "", message }] : []));
  const shortened = omissionsIn(preview).map(
    (message): UnknownPart => ({ subject: "", message, hides: { of: "anything" } }),
  );
  return [...shortened, ...others];
};
