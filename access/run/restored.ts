// What somebody removed by hand, and the run has created again: under the name of its resource, under another one (an alias, a new resource),
// by a set or by a single role binding.
import { parentOf } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import { relationshipOf } from "../graph/live-record.ts";
import { textOf } from "../graph/same.ts";
import { bindingsOf, isRecord, type Managed, nodesOf } from "./stack.ts";

interface Run {
  before: AccessGraph;
  after: AccessGraph;
  stored: readonly Managed[];
  left: readonly Managed[];
  /** uids that the run has made */
  made: ReadonlySet<string>;
}

/** Nodes of `after`. */
export const findRestored = ({ before, after, stored, left, made }: Run): NodeId[] => {
  const isThere = (uid: NodeId): boolean => Object.values(before).some((nodes) => nodes.has(uid));
  const removed = stored.filter((one) => isRecord(one) && !isThere(one.uid));
  // What takes the place of a removed record. What is in it, or refers to it, moves there.
  const places = new Map<NodeId, NodeId>();
  const placeOf = (uid: NodeId): NodeId => places.get(uid) ?? uid;
  const isFree = (id: NodeId): boolean => made.has(id) && ![...places.values()].includes(id);
  for (const one of removed.toSorted((a, b) => a.uid.length - b.uid.length)) {
    const own = left.find(({ urn, uid }) => urn === one.urn && made.has(uid))?.uid;
    const place = own ?? equalNode(after, one, placeOf, isFree);
    if (place !== undefined) places.set(one.uid, place);
  }
  const keyOf = (group: NodeId, identity: NodeId, role: NodeId): string => JSON.stringify([group, identity, role]);
  const pairs = new Set(
    stored
      .flatMap(bindingsOf)
      .filter(({ id }) => !before.bindings.has(id))
      .map(({ group, identity, role }) => keyOf(placeOf(group), placeOf(identity), placeOf(role))),
  );
  const bindings = [...after.bindings.values()].filter(
    ({ id, group, identity, role }) => made.has(id) && pairs.has(keyOf(group, identity, role)),
  );
  return [...new Set([...places.values(), ...bindings.map(({ id }) => id)])];
};

/** The new node that is what this record was: in its place, of its name, or with what it gave. */
const equalNode = (
  after: AccessGraph,
  resource: Managed,
  placeOf: (uid: NodeId) => NodeId,
  isFree: (id: NodeId) => boolean,
): NodeId | undefined => {
  const { kind, uid, outputs } = resource;
  if (kind === "roleBinding" || kind === "externalGroupRoleMapping") return undefined;
  const group = placeOf(parentOf(uid));
  const relationship = textOf(relationshipOf(outputs));
  for (const node of after[nodesOf(resource)].values()) {
    if (!isFree(node.id) || ("parent" in node ? node.parent : (node as { group: NodeId | null }).group) !== group)
      continue;
    if ("email" in node) {
      const role = outputs.roleUid ?? outputs.role;
      if (typeof role === "string" && node.role === placeOf(role) && node.email === (outputs.email ?? ""))
        return node.id;
    } else if ("name" in node && node.name === outputs.name) return node.id;
    else if ("relationship" in node && node.relationship && textOf(node.relationship) === relationship) return node.id;
  }
  return undefined;
};
