// Deletes role bindings, and creates them again. One that fails does not keep the others back.
import type { Client } from "../../client/client.ts";
import { hasCode, sessionErrorOf } from "../../client/errors.ts";
import { listAll } from "../../client/paginate.ts";
import { createRecord, deleteRecord, isListable } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
import type { HeldBinding } from "./held.ts";
import type { UndoFile } from "./undo-file.ts";

const { roleBinding } = resources;

type Caller = Pick<Client, "call" | "clock">;

export interface Failure {
  binding: HeldBinding;
  error: unknown;
}

export interface Removed {
  removed: HeldBinding[];
  failed: Failure[];
}

/** A pipeline's burst must not meet the service's limit of requests a second. */
const DELETES_AT_ONCE = 8;

/** In the order of `bindings`, `atOnce` at a time. Without a connection or a token, or after an abort, nothing more is tried. */
export const removeBindings = async (
  client: Caller,
  bindings: readonly HeldBinding[],
  signal: AbortSignal,
  atOnce = DELETES_AT_ONCE,
): Promise<Removed> => {
  const removed = new Set<HeldBinding>();
  const failed: Failure[] = [];
  let lost: unknown;
  const next = bindings.values();
  const work = async (): Promise<void> => {
    for (const binding of next) {
      try {
        signal.throwIfAborted();
        if (lost !== undefined) throw lost;
        await deleteRecord(client, roleBinding, binding.binding);
        removed.add(binding);
      } catch (error) {
        // It is gone, by a request whose answer was lost or by somebody else.
        if (hasCode(error, "NOT_FOUND")) removed.add(binding);
        else failed.push({ binding, error });
        lost ??= sessionErrorOf(error) && error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { removed: bindings.filter((one) => removed.has(one)), failed };
};

/** uids of the role bindings that an identity has now. */
export const listBindings = async (client: Caller, identity: string): Promise<BoundRole[]> => {
  const found: BoundRole[] = [];
  for await (const record of listAll(client, roleBinding.list, { identity })) {
    const { uid, ...parts } = record as { uid: string } & Record<"identity" | "group" | "role", { uid?: string }>;
    // A service that ignores the filter lists those of others too.
    if (parts.identity?.uid === identity)
      found.push({ uid, group: parts.group?.uid ?? "", role: parts.role?.uid ?? "" });
  }
  return found;
};

interface BoundRole {
  uid: string;
  group: string;
  role: string;
}

export interface Restored {
  /** with their new uids */
  restored: HeldBinding[];
  /** which the identity has, with the uids that they have now */
  present: HeldBinding[];
  failed: Failure[];
}

/** Creates what is missing of the bindings of an undo file. */
export const restoreBindings = async (
  client: Caller,
  { identity, bindings }: UndoFile,
  signal: AbortSignal,
): Promise<Restored> => {
  const now = await listBindings(client, identity.uid);
  const all: Restored = { restored: [], present: [], failed: [] };
  let lost: unknown;
  for (const binding of bindings) {
    const at = now.findIndex(({ group, role }) => group === binding.group && role === binding.role);
    const [there] = at < 0 ? [] : now.splice(at, 1);
    if (there !== undefined) {
      all.present.push({ ...binding, binding: there.uid });
      continue;
    }
    try {
      signal.throwIfAborted();
      if (lost !== undefined) throw lost;
      if (!(await isListable(client, roleBinding, binding.group)))
        throw new Error(
          "role bindings of this group cannot be listed, so it may exist: role_bindings.list is needed at it",
        );
      const body = { identityUid: identity.uid, roleUid: binding.role };
      const { uid } = await createRecord(client, roleBinding, binding.group, body);
      all.restored.push({ ...binding, binding: uid as string });
    } catch (error) {
      if (hasCode(error, "ALREADY_EXISTS")) all.present.push(binding);
      else all.failed.push({ binding, error });
      lost ??= sessionErrorOf(error) && error;
    }
  }
  return all;
};
