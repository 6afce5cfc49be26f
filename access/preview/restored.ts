// What somebody removed by hand, and the run creates again: under the name of its resource, under another one (an alias, a new resource),
// by a set or by a single role binding. A preview shows the removed record in its refresh alone.
import { parentOf } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import { relationshipOf } from "../graph/live-record.ts";
import { textOf } from "../graph/same.ts";
import { nodeOf } from "./reference.ts";
import { NODES, type Resource, type ResourceKind, type Stored } from "./resource.ts";
import { managedBindings } from "./set.ts";

interface Removed {
  resource: Resource;
  stored: Stored;
}

/** `resources` are in the order in which one refers to another. Nodes of `after`. */
export const findRestored = (before: AccessGraph, after: AccessGraph, resources: readonly Resource[]): NodeId[] => {
  const removed = resources.flatMap((resource): Removed[] =>
    resource.refreshed && isRemoved(before, resources, resource) ? [{ resource, stored: resource.refreshed }] : [],
  );
  // What takes the place of a removed record. What is in it, or refers to it, moves there.
  const places = new Map<NodeId, NodeId>();
  const placeOf = (uid: NodeId): NodeId => places.get(uid) ?? uid;
  const isFree = (id: NodeId): boolean => ![...places.values()].includes(id);
  for (const { resource, stored } of removed.toSorted((a, b) => a.stored.uid.length - b.stored.uid.length)) {
    const created = resource.planned?.op === "create" ? nodeOf(resource) : undefined;
    const place = created ?? equalNode(after, resource.kind, stored, placeOf, isFree);
    if (place !== undefined) places.set(stored.uid, place);
  }
  const keyOf = (group: NodeId, identity: NodeId, role: NodeId): string => JSON.stringify([group, identity, role]);
  const pairs = new Set(
    resources.flatMap(({ kind, refreshed }) => {
      if (!refreshed) return [];
      const { uid, outputs } = refreshed;
      const bindings =
        kind === "roleBinding"
          ? managedBindings({ bindings: [{ ...outputs, uid }] }, parentOf(uid))
          : kind === "roleBindingSet"
            ? managedBindings(outputs, uid)
            : [];
      return bindings
        .filter(({ id }) => !before.bindings.has(id))
        .map(({ group, identity, role }) => keyOf(placeOf(group), placeOf(identity), placeOf(role)));
    }),
  );
  const bindings = [...after.bindings.values()].filter(
    ({ uid, group, identity, role }) => uid === null && pairs.has(keyOf(group, identity, role)),
  );
  return [...new Set([...places.values(), ...bindings.map(({ id }) => id)])];
};

/** No step after the refresh is about its record, and the API does not list it. */
const isRemoved = (before: AccessGraph, resources: readonly Resource[], { kind, refreshed }: Resource): boolean => {
  if (!refreshed || kind === "roleBindingSet") return false;
  const { uid } = refreshed;
  if ([...Object.values(before)].some((nodes) => nodes.has(uid))) return false;
  return !resources.some(
    (one) => one.kind === kind && [one.planned, one.stored, ...one.deleted].some((other) => other?.uid === uid),
  );
};

/** The new node that is what this record was: in its place, of its name, or with what it gave. */
const equalNode = (
  after: AccessGraph,
  kind: ResourceKind,
  { uid, outputs }: Stored,
  placeOf: (uid: NodeId) => NodeId,
  isFree: (id: NodeId) => boolean,
): NodeId | undefined => {
  if (kind === "roleBinding" || kind === "roleBindingSet" || kind === "externalGroupRoleMapping") return undefined;
  const group = placeOf(parentOf(uid));
  const relationship = textOf(relationshipOf(outputs));
  for (const node of after[NODES[kind]].values()) {
    if (node.uid !== null || !isFree(node.id) || ("parent" in node ? node.parent : node.group) !== group) continue;
    if ("email" in node) {
      const role = outputs.roleUid ?? outputs.role;
      if (typeof role === "string" && node.role === placeOf(role) && node.email === (outputs.email ?? ""))
        return node.id;
    } else if (node.name === outputs.name) return node.id;
    else if ("relationship" in node && node.relationship && textOf(node.relationship) === relationship) return node.id;
  }
  return undefined;
};
