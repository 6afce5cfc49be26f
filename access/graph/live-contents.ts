// What groups hold beside access: repos and account associations. They are asked for where a review needs them, since there may be many.
import type { Client } from "../../client/client.ts";
import { apiErrorOf } from "../../client/errors.ts";
import { listAll } from "../../client/paginate.ts";
import { isListable } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
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

/** In these groups, and for repos also below. */
export const readHeldRecords = async (client: Caller, groups: readonly NodeId[]): Promise<HeldRecords> => {
  const records = new Map<string, HeldRecord>();
  const unseen = new Map<NodeId, string[]>();
  for (const group of groups) {
    const [repo, association] = [resources.repo, resources.accountAssociation];
    const hidden: string[] = [];
    try {
      for await (const one of listAll(client, repo.list, { uidp: { descendantsOf: group } }))
        records.set(`repo ${one.uid}`, {
          kind: repo.word,
          uid: one.uid,
          name: String(one.name),
          group: one.uid.slice(0, one.uid.lastIndexOf("/")),
        });
      if (!(await isListable(client, repo, group))) hidden.push("repos");
    } catch (error) {
      if (apiErrorOf(error) === undefined) throw error;
      hidden.push("repos");
    }
    try {
      for await (const { uid, name } of listAll(client, association.list, { uidp: { ids: [group] } }))
        records.set(`association ${uid}`, { kind: association.word, uid, name: String(name), group });
      if (!(await isListable(client, association, group))) hidden.push("account associations");
    } catch (error) {
      if (apiErrorOf(error) === undefined) throw error;
      hidden.push("account associations");
    }
    if (hidden.length > 0) unseen.set(group, hidden);
  }
  return { records: [...records.values()], unseen };
};
