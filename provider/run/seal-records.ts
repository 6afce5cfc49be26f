// Which records of the API are those that the resources of a seal create: those that this run has created, and those of earlier runs under
// the seal, as the engine's state has them, or as the API has them and nothing else does. They are younger than the review.
import type { AccessGraph } from "../../access/graph/graph.ts";
import { readLive } from "../../access/graph/live.ts";
import { NODES } from "../../access/run/kind.ts";
import { addEqual, isAsSealed, sinceReview } from "../../access/seal/equal.ts";
import type { SealedRecords } from "../../access/seal/judge.ts";
import { graphFrom, isNew, recordsOf, type Seal } from "../../access/seal/seal.ts";
import type { Client } from "../../client/client.ts";
import { apiErrorOf, sessionErrorOf } from "../../client/errors.ts";
import type { Json } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { placeInStack, urnFrom } from "../record/urn.ts";
import { type EngineState, EngineStateError, type StateResource } from "./engine-state.ts";
import type { Origin, Ownership } from "./ownership.ts";
import type { StoredStacks } from "./stored-stack.ts";

export interface SealRecords extends SealedRecords {
  /** Adds what earlier runs have created. `stack`: organization/project/stack. */
  learn(stack: string | undefined): Promise<void>;
  /** How many records that are. */
  count(): number;
}

interface Sources {
  ownership: Pick<Ownership, "ownerOf" | "originOf">;
  engineState: StoredStacks["engineState"];
  client: Pick<Client, "call" | "clock">;
}

/** For so long, what has been learned is all that there is. */
const LEARNED_MS = 10_000;

export const recordsIn = (seal: Seal, { ownership, engineState, client }: Sources): SealRecords => {
  const { before, after, steps, deletes } = seal;
  const existing = new Set([
    ...Object.values(before).flatMap((nodes) => nodes.map(({ id }) => id)),
    // What the change creates has no uid.
    ...Object.values(after).flatMap((nodes) => nodes.flatMap(({ uid }) => uid ?? [])),
    ...recordsOf(steps),
    ...deletes.map((one) => one.slice(one.indexOf(" ") + 1)),
  ]);
  const created = new Map(
    steps.flatMap((step) => (isNew(step) && step.uid === undefined ? [[resourceOf(step.urn), step.urn] as const] : [])),
  );
  const kinds = new Map(steps.map(({ urn, kind }) => [urn, kind]));
  const declaredAs = (record: string): string | undefined => {
    const owner = ownership.ownerOf(record);
    return owner === undefined ? undefined : created.get(withoutOrganization(owner));
  };
  /** By record: what the state says alone, a run without the seal may have put there. */
  const learned = new Map<string, string>();
  let live: AccessGraph | undefined;
  const later = graphFrom(after);
  const urnOf = (record: string): string | undefined =>
    (isMade(ownership.originOf(record)) ? declaredAs(record) : undefined) ?? learned.get(record);
  const storedIn = ({ urn, id, outputs, delete: isReplaced }: StateResource): Stored[] => {
    const kind = kinds.get(urn);
    if (kind === undefined || isReplaced) return [];
    // A set may have existed before, and has the uid of its group.
    if (kind === "roleBindingSet") return pairsOf(outputs).map((uid) => ({ kind: "roleBinding", uid, urn }));
    return id && created.has(resourceOf(urn)) ? [{ kind, uid: id, urn }] : [];
  };
  const read = async (stack: string): Promise<void> => {
    const [{ graph, createdAt }, { resources }] = await Promise.all([readLive(client), stateOf(engineState, stack)]);
    live = graph;
    const isSince = sinceReview(seal, createdAt);
    const made = new Map(learned);
    // The other kinds give no access.
    for (const { kind, uid, urn } of resources.flatMap(storedIn))
      if (!existing.has(uid) && (!(kind in NODES) || isSince(uid))) made.set(recordId(kind, uid), urn);
    for (const [kind, nodes] of Object.entries(NODES))
      for (const uid of graph[nodes].keys()) {
        const urn = isSince(uid) && !existing.has(uid) ? declaredAs(recordId(kind, uid)) : undefined;
        if (urn !== undefined) made.set(uid, urn);
      }
    // A run takes a role binding away only if it is its own, whoever has granted the same.
    addEqual(made, seal, { graph, isSince }, ["roleBinding"]);
    for (const [record, id] of made) learned.set(record, id);
  };
  const idOf = (kind: string | undefined, uid: string): string =>
    existing.has(uid) ? uid : (urnOf(recordId(kind ?? "", uid)) ?? uid);
  let learning: { ended: Promise<void>; at: number } | undefined;
  return {
    idOf,
    isDeclared: (kind, uid) => {
      const record = recordId(kind, uid);
      if (existing.has(uid) || declaredAs(record) === undefined) return false;
      if (isMade(ownership.originOf(record))) return true;
      // A run without this seal may have changed it since, so that something else would go.
      const urn = learned.get(record);
      const graphs = live && { after: later, live, idOf: (own: string) => idOf(undefined, own) };
      return urn !== undefined && graphs !== undefined && isAsSealed({ kind, urn }, uid, graphs);
    },
    learn: async (stack) => {
      if (stack === undefined) return;
      const now = client.clock.now();
      if (learning === undefined || now - learning.at >= LEARNED_MS) {
        // A service that does not answer says nothing of an earlier run.
        const ended = read(stack).catch((error) => {
          if (!sessionErrorOf(error) && !apiErrorOf(error)) throw error;
        });
        learning = { ended, at: now };
      }
      await learning.ended;
    },
    count: () => learned.size,
  };
};

interface Stored {
  kind: string;
  uid: string;
  urn: string;
}

/** The run itself has made the record, or has taken over what an interrupted run made. */
const isMade = (origin: Origin | undefined): boolean => origin === "created" || origin === "recovered";

const stateOf = async (
  engineState: StoredStacks["engineState"],
  stack: string,
): Promise<Pick<EngineState, "resources">> => {
  try {
    return await engineState(stack);
  } catch (error) {
    if (error instanceof EngineStateError) return { resources: [] };
    throw error;
  }
};

/** uids of the role bindings of a set */
const pairsOf = ({ bindings }: Json): string[] =>
  Array.isArray(bindings) ? bindings.flatMap((one) => (typeof one?.uid === "string" ? [one.uid] : [])) : [];

/** `project/stack/type::name` of a key, which begins with the organization. */
export const withoutOrganization = (key: string): string => key.slice(key.indexOf("/") + 1);

/** The same of a URN. */
export const resourceOf = (text: string): string => {
  const { stack, project, types, name } = urnFrom(text);
  return `${project}/${stack}/${placeInStack(types, name)}`;
};
