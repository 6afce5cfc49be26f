// Records that are asked for at the same moment, by one list of their uids: the pairs of a batch rest on one identity each. What the list
// lacks is read by itself, which tells what does not exist from what the caller may not see (docs/contract.md#d5).
import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/paginate.ts";
import { type Json, type OperationName, type RequestOf, resources } from "../../schema/index.ts";

export type Reader = Pick<Client, "call" | "clock">;

export type ReadKind = "identity" | "role" | "roleBinding" | "identityProvider";

interface Asked {
  uid: string;
  resolve(record: Promise<Json>): void;
}

/** Most uids of one list: proxies take addresses of 8 KiB. */
const UIDS_MAX = 25;

/** Reads a record of the kind. Throws NOT_FOUND and other errors of the API. */
export const readerTogether = (reader: Reader): ((kind: ReadKind, uid: string) => Promise<Json>) => {
  const waiting = new Map<ReadKind, Asked[]>();
  const readOne = async (kind: ReadKind, uid: string): Promise<Json> => {
    const operation = resources[kind].operations.get as OperationName;
    return reader.call(operation, { uid } as RequestOf<typeof operation>);
  };
  const listSome = async (kind: ReadKind, uids: readonly string[]): Promise<Map<string, Json>> => {
    const found = new Map<string, Json>();
    try {
      for await (const record of listAll(reader, resources[kind].list, { uidp: { ids: uids } }))
        found.set(record.uid, record);
    } catch {
      // Each is then read by itself, and its error is its own.
    }
    return found;
  };
  const serve = async (kind: ReadKind): Promise<void> => {
    const asked = waiting.get(kind) ?? [];
    waiting.delete(kind);
    for (let at = 0; at < asked.length; at += UIDS_MAX) {
      const some = asked.slice(at, at + UIDS_MAX);
      const uids = some.map(({ uid }) => uid);
      const listed = some.length > 1 ? await listSome(kind, uids) : new Map<string, Json>();
      for (const { uid, resolve } of some) {
        const record = listed.get(uid);
        resolve(record ? Promise.resolve(record) : readOne(kind, uid));
      }
    }
  };
  return (kind, uid) =>
    new Promise((resolve) => {
      const asked = waiting.get(kind);
      if (asked) asked.push({ uid, resolve });
      else {
        waiting.set(kind, [{ uid, resolve }]);
        setImmediate(() => void serve(kind));
      }
    });
};
