// The graphs of a change of which a part is done, with the ids that its seal has, as if nothing of it were done.
import { type AccessGraph, type GraphBuilder, type NodeId, newGraph } from "../graph/graph.ts";
import { NODES } from "../run/kind.ts";
import type { Change } from "./change.ts";
import type { Done } from "./done.ts";
import { givesSame, IDS, isSame, type Node, type Nodes, withIds } from "./equal.ts";

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
      const isChanged = now && made && !isSame(node, made) && givesSame(made, now);
      if (isDeleted || isChanged) own.set(id, node);
    }
    removeAll(own, created, was);
  }
  return graph;
};

/** Also what refers to them, which is `created` then, too; but nothing of what was there. */
const removeAll = (nodes: Map<NodeId, Node>, created: Set<NodeId>, was: Nodes): void => {
  for (let size = -1; size !== created.size; ) {
    size = created.size;
    for (const [id, node] of nodes)
      if (
        !was.has(id) &&
        Object.entries(node).some(([name, value]) => IDS.includes(name) && created.has(value as NodeId))
      ) {
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
