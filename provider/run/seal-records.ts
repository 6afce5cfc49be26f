// Which records of the API are those that the resources of a seal create: by the ownership of this run, and by the engine's state.
import { readLive } from "../../access/graph/live.ts";
import { NODES } from "../../access/preview/resource.ts";
import { addEqual } from "../../access/seal/equal.ts";
import type { SealedRecords } from "../../access/seal/judge.ts";
import { isNew, recordsOf, type Seal } from "../../access/seal/seal.ts";
import type { Client } from "../../client/client.ts";
import { apiErrorOf, sessionErrorOf } from "../../client/errors.ts";
import type { Json } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { placeInStack, urnFrom } from "../record/urn.ts";
import { EngineStateError, type StateResource } from "./engine-state.ts";
import type { Ownership } from "./ownership.ts";
import type { StoredStacks } from "./stored-stack.ts";

export interface SealRecords extends SealedRecords {
  /**
   * Adds what earlier runs have created: the engine has stored it, or it is as the seal has it. Returns whether that is more than before;
   * `stack`: organization/project/stack.
   */
  learn(stack: string | undefined): Promise<boolean>;
}

interface Sources {
  ownership: Pick<Ownership, "ownerOf">;
  engineState: StoredStacks["engineState"];
  client: Pick<Client, "call" | "clock">;
}

/** For so long, what has been learned is all that there is. */
const LEARNED_MS = 10_000;

export const recordsIn = (seal: Seal, { ownership, engineState, client }: Sources): SealRecords => {
  const { before, steps, deletes } = seal;
  const existing = new Set([
    ...Object.values(before).flatMap((nodes) => nodes.map(({ id }) => id)),
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
  /** ids in the seal, by record */
  const learned = new Map<string, string>();
  let learnedAt: number | undefined;
  const storedIn = ({ urn, id, outputs, delete: isReplaced }: StateResource): [string, string][] => {
    const kind = kinds.get(urn);
    if (kind === undefined || isReplaced) return [];
    // A set may have existed before, and has the uid of its group.
    if (kind === "roleBindingSet") return pairsOf(outputs).map((uid) => [recordId("roleBinding", uid), urn]);
    return id && created.has(resourceOf(urn)) ? [[recordId(kind, id), urn]] : [];
  };
  const addStored = async (stack: string): Promise<void> => {
    for (const [record, urn] of (await engineState(stack)).resources.flatMap(storedIn))
      if (!existing.has(record)) learned.set(record, urn);
  };
  const addEqualOnes = async (): Promise<void> => {
    const { graph } = await readLive(client);
    const made = new Map(learned);
    for (const [kind, nodes] of Object.entries(NODES))
      for (const uid of graph[nodes].keys()) {
        const urn = existing.has(uid) ? undefined : declaredAs(recordId(kind, uid));
        if (urn !== undefined) made.set(uid, urn);
      }
    // A run takes a role binding away only if it is its own, whoever has granted the same.
    addEqual(made, seal, graph, { without: ["roleBinding"] });
    for (const [uid, id] of made) learned.set(uid, id);
  };
  return {
    idOf: (kind, uid) => {
      if (existing.has(uid)) return uid;
      const record = recordId(kind ?? "", uid);
      return declaredAs(record) ?? learned.get(record) ?? uid;
    },
    isDeclared: (kind, uid) => !existing.has(uid) && declaredAs(recordId(kind, uid)) !== undefined,
    learn: async (stack) => {
      const now = client.clock.now();
      if (stack === undefined || (learnedAt !== undefined && now - learnedAt < LEARNED_MS)) return false;
      learnedAt = now;
      const { size } = learned;
      for (const add of [() => addStored(stack), addEqualOnes])
        try {
          await add();
        } catch (error) {
          // Then this says nothing of an earlier run.
          if (!(error instanceof EngineStateError) && !sessionErrorOf(error) && !apiErrorOf(error)) throw error;
        }
      return learned.size > size;
    },
  };
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
