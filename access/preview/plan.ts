// Access before and after a preview: what the API says now, and the same with the engine's steps applied.
import { isRoot, parentOf, printable } from "../../schema/index.ts";
import { type BindingNode, type GraphBuilder, type NodeId, newGraph } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { type IsVisible, visibilityIn } from "../graph/visible.ts";
import type { AdoptedRecord, ForcedRecord, Proposal } from "../review/proposal.ts";
import type { Unknown } from "../review/report.ts";
import { groupNodeOf, identityNodeOf, roleNodeOf, storedGroup, storedIdentity, storedRole } from "./record.ts";
import { nodeOf, type Reference, referenceOf, roleReferenceOf } from "./reference.ts";
import { type Resource, type ResourceKind, resourcesIn, type Stored } from "./resource.ts";
import { keyOfPair, managedIn, pairsOf, removableIn } from "./set.ts";
import type { Preview } from "./shape.ts";

interface Work {
  byUrn: ReadonlyMap<string, Resource>;
  before: GraphBuilder;
  after: GraphBuilder;
  isVisible: IsVisible;
  unknown: Unknown[];
  /** bindings that a resource declares or removes */
  declared: Set<NodeId>;
  restored: NodeId[];
  /** those that are there when the first set is planned, after all resources of one binding */
  bindingsByGroup?: Map<NodeId, BindingNode[]>;
}

const WORDS: Record<ResourceKind, string> = {
  group: "group",
  identity: "identity",
  role: "role",
  roleBinding: "role binding",
  roleBindingSet: "role binding set",
};

// What others refer to comes first.
const ORDER: readonly ResourceKind[] = ["group", "role", "identity", "roleBinding", "roleBindingSet"];

export const planFrom = (preview: Preview, live: Live): Proposal => {
  const { byUrn, unclear } = resourcesIn(preview);
  const resources = ORDER.flatMap((kind) => [...byUrn.values()].filter((one) => one.kind === kind));
  const before = newGraph(live.graph);
  const isVisible = visibilityIn(live.graph, live.notVisible);
  for (const resource of resources)
    for (const stored of [resource.stored, ...resource.deleted])
      if (stored) showStored(before, resource, stored, isVisible);
  const work: Work = {
    byUrn,
    before,
    after: newGraph(before),
    isVisible,
    unknown: [
      ...preview.unreadable.map((text) => ({ subject: "", message: `a step of the preview cannot be read: ${text}` })),
      ...unclear,
    ],
    declared: new Set(),
    restored: [],
  };
  for (const resource of resources) remove(work, resource);
  for (const resource of resources) apply(work, resource);
  const deleted = new Set(resources.flatMap((one) => deletedBy(one).map(({ uid }) => uid)));
  return {
    source: "preview",
    before,
    after: work.after,
    replaced: replacedIn(resources),
    restored: work.restored,
    adopted: resources.flatMap(adoptedBy),
    forced: resources.flatMap(forcedBy),
    deleted,
    undeclared: undeclaredIn(work, preview, resources),
    unknown: [...work.unknown, ...limitsOf(preview, resources)],
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
  const own = kind === "roleBinding" ? managedIn({ bindings: [{ ...outputs, uid }] }, place) : managedIn(outputs, uid);
  if (
    (kind === "roleBinding" && !isVisible("roleBinding", place)) ||
    (kind === "roleBindingSet" && !isVisible("roleBinding", uid))
  )
    for (const binding of own) if (!graph.bindings.has(binding.id)) graph.bindings.set(binding.id, binding);
};

/** The records that its steps delete; an adopted or retained one stays. */
const deletedBy = ({ deleted }: Resource): Stored[] => deleted.filter(({ stays }) => !stays);

const remove = ({ after, declared }: Work, resource: Resource): void => {
  for (const { uid, outputs, stays } of resource.deleted) {
    if (resource.kind === "roleBindingSet") {
      for (const { id } of managedIn(outputs, uid)) {
        declared.add(id);
        after.bindings.delete(id);
      }
      continue;
    }
    if (resource.kind === "roleBinding") declared.add(uid);
    if (!stays) removeRecord(after, uid);
  }
};

/** A group goes with all that is in it, and an identity with its bindings. */
const removeRecord = (graph: GraphBuilder, uid: string): void => {
  // Nothing depends on a binding, and there may be thousands.
  if (graph.bindings.delete(uid)) return;
  const isGroup = graph.groups.has(uid);
  const isGone = (id: NodeId): boolean => id === uid || (isGroup && id.startsWith(`${uid}/`));
  for (const nodes of [graph.groups, graph.identities, graph.roles, graph.bindings])
    for (const id of nodes.keys()) if (isGone(id)) (nodes as Map<NodeId, unknown>).delete(id);
  for (const { id, identity } of graph.bindings.values()) if (isGone(identity)) graph.bindings.delete(id);
};

const apply = (work: Work, resource: Resource): void => {
  const { planned, kind } = resource;
  if (!planned || planned.op === "read") return;
  if (isMissing(work, resource)) {
    const message = `the engine's state has this ${WORDS[kind]}, and the API does not: it was removed since, or the preview is of another service. Run irm review without --preview`;
    work.unknown.push({ subject: resource.logicalName, message });
    return;
  }
  if (planned.op === "create" && resource.refreshed && !resource.deleted.length && kind !== "roleBindingSet")
    work.restored.push(nodeOf(resource));
  applyKind[kind](work, resource);
};

/** The engine expects a record that the API does not have. */
const isMissing = ({ before, isVisible }: Work, { kind, planned }: Resource): boolean => {
  const uid = planned?.uid;
  if (uid === undefined) return false;
  if (kind === "group" || kind === "roleBindingSet")
    return isVisible("group", parentOf(uid) || uid) && !before.groups.has(uid);
  if (kind === "identity") return isVisible("identity", parentOf(uid)) && !before.identities.has(uid);
  if (kind === "role") return isVisible("role", parentOf(uid)) && !before.roles.has(uid);
  return isVisible("roleBinding", parentOf(uid)) && !before.bindings.has(uid);
};

const applyKind: Record<ResourceKind, (work: Work, resource: Resource) => void> = {
  group: (work, resource) => {
    const { inputs } = resource.planned as NonNullable<Resource["planned"]>;
    const live = work.after.groups.get(nodeOf(resource));
    const parent = live ? live.parent : inputs.root === true ? null : placeOf(work, resource);
    work.after.groups.set(nodeOf(resource), groupNodeOf(resource, parent, live));
  },
  identity: (work, resource) => {
    const live = work.after.identities.get(nodeOf(resource));
    const { node, hidden } = identityNodeOf(resource, live?.group ?? placeOf(work, resource), live);
    if (hidden)
      report(
        work,
        resource,
        "",
        hidden === "secret" ? "who can assume it is secret" : "who can assume it is known only to the run",
      );
    work.after.identities.set(node.id, node);
  },
  role: (work, resource) => {
    const live = work.after.roles.get(nodeOf(resource));
    const { node, hidden } = roleNodeOf(resource, live?.group ?? placeOf(work, resource), live);
    if (hidden)
      report(
        work,
        resource,
        "capabilities",
        `what the role grants is ${hidden === "secret" ? "secret" : "known only to the run"}`,
      );
    work.after.roles.set(node.id, node);
  },
  roleBinding: (work, resource) => {
    const { uid, inputs, dependencies, op } = resource.planned as NonNullable<Resource["planned"]>;
    if (uid) work.declared.add(uid);
    if (op === "same") return;
    const { byUrn, after } = work;
    const names = (inputs.names ?? {}) as Record<string, unknown>;
    const group = uid ? { id: parentOf(uid) } : referenceOf(byUrn, inputs.parent, "group", dependencies.parent);
    const identity = referenceOf(byUrn, inputs.identity, "identity", dependencies.identity, names.identity);
    const role = roleReferenceOf(after, byUrn, inputs.role, dependencies.role, names.role);
    const parts = { parent: group, identity, role };
    const context = describe(work, parts);
    for (const [property, part] of Object.entries(parts))
      if ("why" in part) report(work, resource, property, `${part.why}; ${context}`);
    if ("id" in group && "id" in identity && "id" in role)
      bind(work, resource, {
        id: uid ?? resource.urn,
        uid: uid ?? null,
        group: group.id,
        identity: identity.id,
        role: role.id,
      });
    // Something else than now, and not known what.
    else if (uid) after.bindings.delete(uid);
  },
  roleBindingSet: (work, resource) => {
    const { inputs, op } = resource.planned as NonNullable<Resource["planned"]>;
    const { byUrn, after } = work;
    const { outputs } = resource.stored ?? {};
    const group = resource.planned?.uid ? { id: resource.planned.uid } : groupOf(work, resource);
    if (!("id" in group)) {
      report(work, resource, "parent", `${group.why}; its bindings are not in this review`);
      return;
    }
    const managed = resource.deleted.length > 0 ? [] : managedIn(outputs, group.id);
    for (const { id } of managed) work.declared.add(id);
    const pairs = pairsOf(resource, after, byUrn);
    if (pairs === undefined) {
      report(work, resource, "bindings", "the list is known only to the run");
      return;
    }
    const wanted = new Set(pairs.map(keyOfPair));
    work.bindingsByGroup ??= Map.groupBy(after.bindings.values(), (one) => one.group);
    const here = (work.bindingsByGroup.get(group.id) ?? []).filter(({ id }) => after.bindings.has(id));
    const inGroup = new Map(here.map((one) => [keyOfPair(one), one.id]));
    const earlier = new Set(managedIn(resource.refreshed?.outputs, group.id).map(keyOfPair));
    pairs.forEach((pair, i) => {
      for (const { property, why } of pair.problems) report(work, resource, property, why);
      const { identity, role } = pair;
      if (identity === undefined || role === undefined) return;
      const existing = inGroup.get(keyOfPair(pair));
      if (existing !== undefined) work.declared.add(existing);
      else if (op !== "same") {
        const id = `${resource.urn}[${i}]`;
        bind(work, resource, { id, uid: null, group: group.id, identity, role });
        if (earlier.has(keyOfPair(pair))) work.restored.push(id);
      }
    });
    const removed = [
      ...managed,
      ...(inputs.exclusive === true && outputs?.exclusive === true ? removableIn(outputs, group.id) : []),
    ];
    for (const binding of removed) {
      work.declared.add(binding.id);
      if (op !== "same" && !wanted.has(keyOfPair(binding))) after.bindings.delete(binding.id);
    }
  },
};

const bind = (work: Work, resource: Resource, binding: BindingNode): void => {
  const { before, after } = work;
  after.bindings.set(binding.id, binding);
  const { bindingsByGroup } = work;
  if (bindingsByGroup && !bindingsByGroup.get(binding.group)?.push(binding))
    bindingsByGroup.set(binding.group, [binding]);
  const { identity } = binding;
  if (!after.identities.has(identity) && !before.identities.has(identity))
    report(work, resource, "identity", `the API does not list identity ${identity}`);
};

const groupOf = ({ byUrn }: Work, { planned }: Resource): Reference =>
  referenceOf(byUrn, planned?.inputs.parent, "group", planned?.dependencies.parent);

/** The group of a record. One that cannot be known gets a node of its own, so that its access stays in the review. */
const placeOf = (work: Work, resource: Resource): NodeId => {
  const group = groupOf(work, resource);
  if ("id" in group) return group.id;
  report(work, resource, "parent", group.why);
  const id = `${resource.urn}#parent`;
  const name = "a group that is not known";
  work.after.groups.set(id, { id, uid: null, name, parent: null, logicalName: name });
  return id;
};

const report = (work: Work, { kind, logicalName }: Resource, property: string, why: string): void => {
  work.unknown.push({
    subject: logicalName,
    ...(property && { property }),
    message: `${WORDS[kind]} ${printable(logicalName)}: ${property && `${property}: `}${why}`,
  });
};

/** `identity deploy is granted a role that is not known at clusters` */
const describe = ({ after }: Work, parts: Record<"parent" | "identity" | "role", Reference>): string => {
  const named = (part: Reference, nodes: ReadonlyMap<NodeId, { name: string }>, kind: string): string =>
    "id" in part
      ? `${kind} ${printable(nodes.get(part.id)?.name ?? part.id)}`
      : `${kind === "identity" ? "an identity" : `a ${kind}`} that is not known`;
  return `${named(parts.identity, after.identities, "identity")} would get ${named(parts.role, after.roles, "role")} at ${named(parts.parent, after.groups, "group")}`;
};

const replacedIn = (resources: readonly Resource[]): Map<NodeId, NodeId> =>
  new Map(
    resources.flatMap((one) => {
      const [old] = deletedBy(one);
      return one.kind === "identity" && one.planned && old ? [[old.uid, nodeOf(one)]] : [];
    }),
  );

const adoptedBy = ({ kind, logicalName, planned }: Resource): AdoptedRecord[] => {
  if (planned?.op !== "create" || planned.uid === undefined) return [];
  const deletedLater = planned.inputs.deleteAdopted === true;
  return [{ kind: WORDS[kind], uid: planned.uid, resource: logicalName, deletedLater }];
};

const forcedBy = (resource: Resource): ForcedRecord[] => {
  const { kind, logicalName, planned, stored } = resource;
  const own = { kind: WORDS[kind], resource: logicalName };
  const now = deletedBy(resource)
    .filter(({ inputs, outputs }) => inputs.forceDestroy === true || outputs.forceDestroy === true)
    .map(({ uid }) => ({ ...own, uid, node: uid, deletes: true }));
  const isNew = planned?.inputs.forceDestroy === true && stored?.inputs.forceDestroy !== true;
  const later = { ...own, uid: planned?.uid ?? null, node: nodeOf(resource), deletes: false };
  return isNew ? [...now, later] : now;
};

const hasSames = ({ steps, summary }: Preview): boolean =>
  steps.filter(({ op }) => op === "same").length >= (summary.same ?? 0);

/** Only of a preview that shows all resources: otherwise what it leaves out would count. */
const undeclaredIn = ({ after, declared }: Work, preview: Preview, resources: readonly Resource[]): NodeId[] => {
  if (!hasSames(preview)) return [];
  const rootsOf = ({ planned, stored, deleted }: Resource): string[] =>
    [planned?.uid, planned?.inputs.parent, stored?.uid, ...deleted.map(({ uid }) => uid)].flatMap((uid) =>
      typeof uid === "string" ? [uid.split("/", 1)[0] as string] : [],
    );
  const roots = new Set(resources.flatMap(rootsOf));
  return [...after.bindings.values()]
    .filter(({ id, uid, group }) => uid !== null && roots.has(group.split("/", 1)[0] as string) && !declared.has(id))
    .map(({ id }) => id);
};

/** What this preview cannot say, because of how it was made. */
const limitsOf = (preview: Preview, resources: readonly Resource[]): Unknown[] => {
  const existed = resources.filter(
    ({ planned, deleted }) => deleted.length > 0 || (planned && planned.op !== "create"),
  );
  const isRefreshed = preview.steps.some(({ op }) => op === "refresh") || (existed.length === 0 && hasSames(preview));
  return [
    ...(isRefreshed
      ? []
      : [
          "the preview was made without --refresh: a binding that was removed by hand looks unchanged in it, and this review cannot tell that the run would not restore it, or that a later one will",
        ]),
    ...(hasSames(preview)
      ? []
      : [
          "the preview was made without --show-sames: it leaves out the resources that stay, so this review cannot tell which access nothing declares",
        ]),
  ].map((message) => ({ subject: "", message }));
};
