// Deletes the records that give a holder its roles, and creates them again. A failure does not stop the others.
import { hasCode, sessionErrorOf } from "../../client/errors.ts";
import { forEachOf } from "../../client/in-parallel.ts";
import { deleteRecord } from "../../client/records.ts";
import type { Caller } from "../graph/hidden.ts";
import { createGrant, type HeldBinding, type Holder, kindOf, listGrants } from "./holder.ts";
import type { UndoFile } from "./undo-file.ts";

export interface Failure {
  binding: HeldBinding;
  error: unknown;
}

/** In the order of `bindings`, `atOnce` at a time. Without a connection or a token, or after an abort, it stops trying. */
const tryEach = async (
  bindings: readonly HeldBinding[],
  signal: AbortSignal,
  act: (binding: HeldBinding) => Promise<void>,
  atOnce = 1,
): Promise<Failure[]> => {
  const failed: Failure[] = [];
  let lost: unknown;
  const tryOne = async (binding: HeldBinding): Promise<void> => {
    try {
      signal.throwIfAborted();
      if (lost !== undefined) throw lost;
      await act(binding);
    } catch (error) {
      failed.push({ binding, error });
      lost ??= sessionErrorOf(error) && error;
    }
  };
  await forEachOf(bindings, tryOne, atOnce);
  return failed;
};

export type Removed = Awaited<ReturnType<typeof removeBindings>>;

/** A pipeline's burst must not reach the service's limit of requests per second. */
const DELETES_AT_ONCE = 8;

export const removeBindings = async (
  client: Caller,
  holder: Holder,
  bindings: readonly HeldBinding[],
  signal: AbortSignal,
  atOnce = DELETES_AT_ONCE,
) => {
  const removed = new Set<HeldBinding>();
  const remove = async (binding: HeldBinding): Promise<void> => {
    try {
      await deleteRecord(client, kindOf(holder), binding.binding);
    } catch (error) {
      // A request whose answer was lost has deleted it, or someone else has.
      if (!hasCode(error, "NOT_FOUND")) throw error;
    }
    removed.add(binding);
  };
  const failed = await tryEach(bindings, signal, remove, atOnce);
  return { removed: bindings.filter((one) => removed.has(one)), failed };
};

/** Creates the missing bindings of an undo file. */
export const restoreBindings = async (client: Caller, { holder, bindings }: UndoFile, signal: AbortSignal) => {
  const now = await listGrants(client, holder);
  /** with their current uids: created bindings, and bindings that the holder already has */
  const [restored, present]: [HeldBinding[], HeldBinding[]] = [[], []];
  const missing = bindings.filter((binding) => {
    const at = now.findIndex(({ group, role }) => group === binding.group && role === binding.role);
    const [there] = at < 0 ? [] : now.splice(at, 1);
    if (there !== undefined) present.push({ ...binding, binding: there.uid });
    return there === undefined;
  });
  const failed = await tryEach(missing, signal, async (binding) => {
    try {
      const { uid } = await createGrant(client, holder, binding);
      restored.push({ ...binding, binding: uid as string });
    } catch (error) {
      if (!hasCode(error, "ALREADY_EXISTS")) throw error;
      present.push(binding);
    }
  });
  return { restored, present, failed };
};
