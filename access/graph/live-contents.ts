// What groups hold beside access: repos and account associations. They are asked for where a review needs them, since there may be many.
import type { Client } from "../../client/client.ts";
import { apiErrorOf } from "../../client/errors.ts";
import { listAll } from "../../client/paginate.ts";
import { isListable } from "../../client/records.ts";
import { parentOf, resources } from "../../schema/index.ts";
import type { NodeId } from "./graph.ts";

export interface HeldRecord {
  kind: string;
  uid: string;
  name: string;
  /** the group that holds it */
  group: NodeId;
}

export interface HeldRecords {
  records: readonly HeldRecord[];
  /** kinds that cannot be listed, in words, by group */
  unseen: ReadonlyMap<NodeId, readonly string[]>;
}

export const NOTHING_HELD: HeldRecords = { records: [], unseen: new Map() };

type Caller = Pick<Client, "call" | "clock">;

const KINDS = [resources.repo, resources.accountAssociation] as const;

/** The records in these groups and below. */
export const readHeldRecords = async (client: Caller, groups: readonly NodeId[]): Promise<HeldRecords> => {
  const records = new Map<string, HeldRecord>();
  const unseen = new Map<NodeId, string[]>();
  for (const group of groups)
    for (const kind of KINDS) {
      const found = await listHeld(client, kind, group);
      for (const one of found.records) records.set(`${one.kind} ${one.uid}`, one);
      if (!found.isComplete) unseen.set(group, [...(unseen.get(group) ?? []), kind.words]);
    }
  return { records: [...records.values()], unseen };
};

const listHeld = async (
  client: Caller,
  kind: (typeof KINDS)[number],
  group: NodeId,
): Promise<{ records: HeldRecord[]; isComplete: boolean }> => {
  const records: HeldRecord[] = [];
  // An account association has the uid of its group, so it is not below it.
  const filters = kind.list.sharesUid ? [{ ids: [group] }, { descendantsOf: group }] : [{ descendantsOf: group }];
  try {
    for (const uidp of filters)
      for await (const { uid, name } of listAll(client, kind.list, { uidp }))
        records.push({ kind: kind.word, uid, name: String(name), group: kind.list.sharesUid ? uid : parentOf(uid) });
    return { records, isComplete: await isListable(client, kind, group) };
  } catch (error) {
    if (apiErrorOf(error) === undefined) throw error;
    return { records, isComplete: false };
  }
};
