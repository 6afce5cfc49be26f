// Which records of the API are those that the resources of a seal create: by the ownership of this run, and by the engine's state.
import { isNew, recordsOf, type Seal } from "../../access/seal/seal.ts";
import type { Json } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { placeInStack, urnFrom } from "../record/urn.ts";
import { EngineStateError } from "./engine-state.ts";
import type { Ownership } from "./ownership.ts";
import type { StoredStacks } from "./stored-stack.ts";

/** Role bindings in the engine's state that resources of the seal have created. Only a run with `--refresh` knows them otherwise. */
export const storedBy = async (
  { steps }: Seal,
  engineState: StoredStacks["engineState"],
  stack: string | undefined,
): Promise<ReadonlySet<string>> => {
  if (stack === undefined) return new Set();
  const urns = new Set(steps.map(({ urn }) => urn));
  try {
    const { resources } = await engineState(stack);
    return new Set(
      resources.flatMap(({ urn, id, outputs }) => (urns.has(urn) ? [id ?? [], pairsOf(outputs)].flat() : [])),
    );
  } catch (error) {
    // Then nothing is known of an earlier run.
    if (error instanceof EngineStateError) return new Set();
    throw error;
  }
};

/** Of a set. */
const pairsOf = ({ bindings }: Json): string[] =>
  Array.isArray(bindings) ? bindings.flatMap((one) => (typeof one?.uid === "string" ? [one.uid] : [])) : [];

/** A record that a resource of this run has created, or an earlier run under the same seal, has the URN of that resource. */
export const idsIn = ({ before, steps, deletes }: Seal, { ownerOf }: Pick<Ownership, "ownerOf">) => {
  const existing = new Set([
    ...Object.values(before).flatMap((nodes) => nodes.map(({ id }) => id)),
    ...recordsOf(steps),
    ...deletes.map((one) => one.slice(one.indexOf(" ") + 1)),
  ]);
  const created = new Map(
    steps.flatMap((step) => (isNew(step) && step.uid === undefined ? [[resourceOf(step.urn), step.urn] as const] : [])),
  );
  return (kind: string | undefined, uid: string): string => {
    if (existing.has(uid)) return uid;
    const owner = ownerOf(recordId(kind ?? "", uid));
    return (owner !== undefined && created.get(withoutOrganization(owner))) || uid;
  };
};

/** `project/stack/type::name` of a key, which begins with the organization. */
export const withoutOrganization = (key: string): string => key.slice(key.indexOf("/") + 1);

/** The same of a URN. */
export const resourceOf = (text: string): string => {
  const { stack, project, types, name } = urnFrom(text);
  return `${project}/${stack}/${placeInStack(types, name)}`;
};
