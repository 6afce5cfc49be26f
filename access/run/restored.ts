// Records that someone removed by hand, and that the run has created again. The resource may have the same name or another one (an alias,
// a new resource), and may be a set or a single role binding.

import type { StateResource } from "../../pulumi/state.ts";
import { clearValuesIn } from "../../pulumi/value.ts";
import { type Json, parentOf } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import type { Restored } from "../change/change.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import { relationshipOf } from "../graph/live-record.ts";
import type { RunRecord } from "./record.ts";
import { bindingsOf, isRecord, type Managed, managedIn, nodesOf } from "./stack.ts";

interface Run {
  before: AccessGraph;
  after: AccessGraph;
  stored: readonly Managed[];
  left: readonly Managed[];
  /** uids that the run has assigned */
  made: ReadonlySet<string>;
}

/** Nodes of `after`, and the removed records that they replace. */
export const findRestored = ({ before, after, stored, left, made }: Run): { node: NodeId; removed: NodeId }[] => {
  const removed = stored.filter((one) => isRecord(one) && !hasNode(before, one.uid));
  // The replacements of removed records. Contents and references of a removed record move to its replacement.
  const places = new Map<NodeId, NodeId>();
  const originalOf = (uid: NodeId) => places.get(uid) ?? uid;
  const isFree = (id: NodeId) => made.has(id) && ![...places.values()].includes(id);
  for (const one of removed.toSorted((a, b) => a.uid.length - b.uid.length)) {
    const own = left.find(({ urn, uid }) => urn === one.urn && made.has(uid))?.uid;
    const place = own ?? equalNode(after, one, originalOf, isFree);
    if (place !== undefined) places.set(one.uid, place);
  }
  const keyOf = (group: NodeId, identity: NodeId, role: NodeId) => JSON.stringify([group, identity, role]);
  const pairs = new Map(
    stored
      .flatMap(bindingsOf)
      .filter(({ id }) => !before.bindings.has(id))
      .map(({ id, group, identity, role }) => [keyOf(originalOf(group), originalOf(identity), originalOf(role)), id]),
  );
  const restored = new Map([...places].map(([old, node]) => [node, old]));
  for (const { id, group, identity, role } of after.bindings.values()) {
    const old = made.has(id) ? pairs.get(keyOf(group, identity, role)) : undefined;
    if (old !== undefined && !restored.has(id)) restored.set(id, old);
  }
  return [...restored].map(([node, removed]) => ({ node, removed }));
};

export const hasNode = (graph: AccessGraph, uid: NodeId): boolean =>
  Object.values(graph).some((nodes) => nodes.has(uid));

/**
 * The writes of a run that undo a manual edit. They create a removed record again, or change back a value that the program has not changed.
 */
export const restoredWrites = (
  services: readonly { before: { graph: AccessGraph }; after: { graph: AccessGraph } }[],
  { stored, left, normal: { writes, uids } }: Pick<RunRecord, "stored" | "left" | "normal">,
): Restored[] => {
  const made = new Set(uids.values());
  const [old, now] = [managedIn(stored), managedIn(left)];
  const removed = new Map(
    services.flatMap(({ before, after }) =>
      findRestored({ before: before.graph, after: after.graph, stored: old, left: now, made }).map(
        (one) => [one.node, one.removed] as const,
      ),
    ),
  );
  const inputsIn = (all: readonly StateResource[]) =>
    new Map(all.map(({ urn, id, inputs }) => [`${urn} ${id}`, equalityKey(clearValuesIn(inputs as Json))]));
  const [given, gives] = [inputsIn(stored), inputsIn(left)];
  const unchanged = new Set(
    stored.flatMap(({ urn, id }) => (given.get(`${urn} ${id}`) === gives.get(`${urn} ${id}`) ? [id] : [])),
  );
  return writes.flatMap(({ n, uid, mask }) => {
    const old = removed.get(uids.get(n) ?? "");
    if (old !== undefined) return [{ n, uid: old }];
    return mask && typeof uid === "string" && unchanged.has(uid) ? [{ n, uid }] : [];
  });
};

/** The new node that replaces this record: in its place, with its name or its access. */
const equalNode = (
  after: AccessGraph,
  resource: Managed,
  originalOf: (uid: NodeId) => NodeId,
  isFree: (id: NodeId) => boolean,
): NodeId | undefined => {
  const { kind, uid, outputs } = resource;
  if (kind === "roleBinding" || kind === "externalGroupRoleMapping") return undefined;
  const group = originalOf(parentOf(uid));
  const role = outputs.roleUid ?? outputs.role;
  const relationship = equalityKey(relationshipOf(outputs));
  return [...after[nodesOf(resource)].values()].find((node) => {
    const place = "parent" in node ? node.parent : (node as { group: NodeId | null }).group;
    if (!isFree(node.id) || place !== group) return false;
    if ("email" in node)
      return typeof role === "string" && node.role === originalOf(role) && node.email === (outputs.email ?? "");
    if ("name" in node && node.name === outputs.name) return true;
    return "relationship" in node && node.relationship !== null && equalityKey(node.relationship) === relationship;
  })?.id;
};
