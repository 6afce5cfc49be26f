// Which records of the API are those that the resources of a seal create: by the ownership of this run, and by the engine's state.
import type { SealedRecords } from "../../access/seal/judge.ts";
import { isNew, recordsOf, type Seal } from "../../access/seal/seal.ts";
import type { Json } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { placeInStack, urnFrom } from "../record/urn.ts";
import { EngineStateError, type StateResource } from "./engine-state.ts";
import type { Ownership } from "./ownership.ts";
import type { StoredStacks } from "./stored-stack.ts";

export interface SealRecords extends SealedRecords {
  /**
   * Adds what the engine has stored of earlier runs. A run with `--refresh` knows it without that. Returns whether it has added
   * anything; `stack`: organization/project/stack.
   */
  learn(stack: string | undefined): Promise<boolean>;
}

export const recordsIn = (
  { before, steps, deletes }: Seal,
  { ownerOf }: Pick<Ownership, "ownerOf">,
  engineState: StoredStacks["engineState"],
): SealRecords => {
  const existing = new Set([
    ...Object.values(before).flatMap((nodes) => nodes.map(({ id }) => id)),
    ...recordsOf(steps),
    ...deletes.map((one) => one.slice(one.indexOf(" ") + 1)),
  ]);
  const created = new Map(
    steps.flatMap((step) => (isNew(step) && step.uid === undefined ? [[resourceOf(step.urn), step.urn] as const] : [])),
  );
  const kinds = new Map(steps.map(({ urn, kind }) => [urn, kind]));
  /** URN of its resource, by record */
  let stored: ReadonlyMap<string, string> | undefined;
  const storedIn = ({ urn, id, outputs, delete: isReplaced }: StateResource): [string, string][] => {
    const kind = kinds.get(urn);
    if (kind === undefined || isReplaced) return [];
    // A set may have existed before, and has the uid of its group.
    if (kind === "roleBindingSet") return pairsOf(outputs).map((uid) => [recordId("roleBinding", uid), urn]);
    return id && created.has(resourceOf(urn)) ? [[recordId(kind, id), urn]] : [];
  };
  const declaredAs = (record: string): string | undefined => {
    const owner = ownerOf(record);
    return owner === undefined ? undefined : created.get(withoutOrganization(owner));
  };
  return {
    idOf: (kind, uid) => {
      if (existing.has(uid)) return uid;
      const record = recordId(kind ?? "", uid);
      return declaredAs(record) ?? stored?.get(record) ?? uid;
    },
    isDeclared: (kind, uid) => !existing.has(uid) && declaredAs(recordId(kind, uid)) !== undefined,
    learn: async (stack) => {
      if (stack === undefined || stored) return false;
      try {
        stored = new Map((await engineState(stack)).resources.flatMap(storedIn));
      } catch (error) {
        if (!(error instanceof EngineStateError)) throw error;
        // Then nothing is known of an earlier run.
        stored = new Map();
      }
      return stored.size > 0;
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
