// Whom a test is about: one identity, all but some, or those that a workload can assume.
import { type Json, printable } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import { isPeople } from "../graph/people.ts";
import { canBeAssumedBy, workloadsOf } from "../workload/workload.ts";
import { pathOfIdentity } from "./names.ts";
import type { Actor, Look } from "./scene.ts";

/** `otherwise`: what a test calls it, where the change deletes it. */
export const actorOf = (look: Look, identity: NodeId, otherwise = identity): Actor => ({
  identity,
  words: nameOf(look, identity, otherwise),
  isCertain: true,
});

const nameOf = ({ graph }: Look, id: NodeId, otherwise: string): string => {
  const one = graph.identities.get(id);
  if (one === undefined) return printable(otherwise);
  return printable(isPeople(one) ? one.name : pathOfIdentity(graph, one.group, one.name));
};

export const othersThan = (look: Look, allowed: ReadonlySet<NodeId>): Actor[] =>
  holdersIn(look)
    .filter((id) => !allowed.has(id))
    .map((id) => actorOf(look, id));

export const findAssumable = (look: Look, relationship: Json): Actor[] => {
  const workloads = workloadsOf(relationship);
  return holdersIn(look).flatMap((id): Actor[] => {
    const identity = look.graph.identities.get(id);
    // A person signs in, so a workload never matches.
    if (identity && isPeople(identity)) return [];
    const trusted = identity?.relationship ?? null;
    const answer = canBeAssumedBy(trusted, workloads, look.budget);
    if (answer.is === "no") return [];
    const name = nameOf(look, id, id);
    if (answer.is === "yes") {
      const { sub = Object.values(answer.example)[0] ?? "" } = answer.example;
      return [{ identity: id, words: `${name}, which ${printable(sub)} can assume,`, isCertain: true }];
    }
    return [{ identity: id, words: `${name}, which it can perhaps assume,`, isCertain: false }];
  });
};

const holdersIn = ({ graph }: Look): NodeId[] =>
  [...new Set(Array.from(graph.bindings.values(), ({ identity }) => identity))].sort();
