// Whom a test is about: one identity, all but some, or those that a workload can assume.
import { type Json, printable } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import { canBeAssumedBy, workloadsOf } from "../workload/workload.ts";
import { pathOfIdentity } from "./names.ts";
import type { Actor, Look } from "./scene.ts";

export const actorOf = (look: Look, identity: NodeId): Actor => ({
  identity,
  words: nameOf(look, identity),
  isCertain: true,
});

const nameOf = ({ graph }: Look, id: NodeId): string => {
  const { group, name } = graph.identities.get(id) ?? {};
  return printable(group === undefined || name === undefined ? id : pathOfIdentity(graph, group, name));
};

export const othersThan = (look: Look, allowed: ReadonlySet<NodeId>): Actor[] =>
  holdersIn(look)
    .filter((id) => !allowed.has(id))
    .map((id) => actorOf(look, id));

export const assumedBy = (look: Look, relationship: Json): Actor[] => {
  const workloads = workloadsOf(relationship);
  return holdersIn(look).flatMap((id): Actor[] => {
    const own = look.graph.identities.get(id)?.relationship ?? null;
    const answer = canBeAssumedBy(own, workloads, look.budget);
    if (answer.is === "no") return [];
    const name = nameOf(look, id);
    if (answer.is === "yes") {
      const { sub = Object.values(answer.example)[0] ?? "" } = answer.example;
      return [{ identity: id, words: `${name}, which ${printable(sub)} can assume,`, isCertain: true }];
    }
    return [{ identity: id, words: `${name}, which it can perhaps assume,`, isCertain: false }];
  });
};

const holdersIn = ({ graph }: Look): NodeId[] =>
  [...new Set(Array.from(graph.bindings.values(), ({ identity }) => identity))].sort();
