// The graphs of a change of which a part is done, with the ids that its seal has, as if nothing of it were done.
import type { Json } from "../../schema/index.ts";
import { type AccessGraph, type GraphBuilder, type NodeId, newGraph } from "../graph/graph.ts";
import { isSameRelationship, textOf } from "../graph/same.ts";
import { NODES } from "../preview/resource.ts";
import type { Change } from "./change.ts";
import type { Done } from "./done.ts";

type Node = { id: NodeId; uid: string | null };
export type Nodes = ReadonlyMap<NodeId, Node>;

/** Without what the change has created and what has been added to that, and with what it has changed and deleted as it was. */
export const graphBefore = (
  live: AccessGraph,
  { before, after }: Pick<Change, "before" | "after">,
  { idOf, deletes, isGone }: Done,
): AccessGraph => {
  const graph = withSealedIds(live, idOf);
  const created = new Set<NodeId>();
  for (const [kind, nodes] of Object.entries(NODES)) {
    const own = graph[nodes] as Map<NodeId, Node>;
    const [was, is]: [Nodes, Nodes] = [before[nodes], after[nodes]];
    for (const { id, uid } of is.values()) if (uid === null && !was.has(id)) created.add(id);
    for (const [id, node] of was) {
      const [now, made] = [own.get(id), is.get(id)];
      const isDeleted = deletes.has(`${kind} ${id}`) && isGone(kind, id);
      const isChanged = now && made && !isSame(node, made) && isSame(made, now);
      if (isDeleted || isChanged) own.set(id, node);
    }
    removeAll(own, created);
  }
  return graph;
};

/** Also what refers to them, which is `created` then, too. */
const removeAll = (nodes: Map<NodeId, Node>, created: Set<NodeId>): void => {
  for (let size = -1; size !== created.size; ) {
    size = created.size;
    for (const [id, node] of nodes)
      if (Object.entries(node).some(([name, value]) => IDS.includes(name) && created.has(value as NodeId))) {
        nodes.delete(id);
        created.add(id);
      }
  }
};

/** What is as the seal has it has its words: the API gives an invite its name, and static keys an end. */
export const graphAfter = (live: AccessGraph, { after }: Pick<Change, "after">, { idOf }: Done): AccessGraph => {
  const graph = withSealedIds(live, idOf);
  for (const nodes of Object.values(NODES)) {
    const own = graph[nodes] as Map<NodeId, Node>;
    for (const [id, shown] of after[nodes] as Nodes) {
      const now = own.get(id);
      if (now && isSame(shown, now)) own.set(id, shown);
    }
  }
  return graph;
};

const withSealedIds = (graph: AccessGraph, idOf: Done["idOf"]): GraphBuilder => {
  const copy = newGraph();
  for (const nodes of Object.values(NODES))
    for (const node of graph[nodes].values()) {
      const own = withIds(node, idOf);
      (copy[nodes] as Map<NodeId, Node>).set(own.id, own);
    }
  return copy;
};

/** The members of nodes that are ids. */
const IDS = ["id", "parent", "group", "identity", "role", "provider", "defaultRole"];

/** The node, with other ids. One that the change has created has no uid yet. */
export const withIds = <T extends Node>(node: T, idOf: Done["idOf"]): T => {
  const ids = Object.entries(node).flatMap(([name, value]) => {
    const id = IDS.includes(name) && typeof value === "string" ? idOf(value) : value;
    return id === value ? [] : [[name, id] as const];
  });
  if (ids.length === 0) return node;
  return { ...node, ...(idOf(node.id) !== node.id && { uid: null }), ...Object.fromEntries(ids) };
};

/**
 * What nodes that are the same have in common, without who may assume an identity. What the API gives a record by itself is left out: its
 * uid, and the name of an invite, which alone has an end.
 */
export const keyOf = (node: Node): string => {
  const { id: _id, uid: _uid, logicalName: _logical, relationship: _claims, ...own }: Json = { ...node };
  const { expirationTime, name, ...others } = own;
  return textOf(expirationTime === undefined ? { ...others, name } : others);
};

const relationshipIn = (node: Node): Json | null => ((node as Json).relationship ?? null) as Json | null;

export const isSame = (shown: Node, now: Node): boolean =>
  keyOf(shown) === keyOf(now) && isSameRelationship(relationshipIn(shown), relationshipIn(now));
