// What a twin has, as an access graph: read through its lists, as from the service itself.
import type { AccessGraph, RoleNode } from "../../access/graph/graph.ts";
import { isListedKind, type Live, readListed } from "../../access/graph/live.ts";
import type { HeldRecord } from "../../access/review/proposal.ts";
import { parentOf, resources } from "../../schema/index.ts";
import type { Twin } from "./twin.ts";

export interface TwinLive extends Live {
  /** repos and account associations, which go with their group */
  held: readonly HeldRecord[];
}

/** Whatever the reader of the copy could not list is named as such. */
export const readTwin = async (twin: Twin): Promise<TwinLive> => {
  const { copy, named, records } = twin.copy;
  const { graph, createdAt, lastSeen } = await readListed(await twin.operatorOf(undefined));
  const listed = new Set(records.roles?.map(({ uid }) => uid));
  const roles = new Map(graph.roles);
  for (const { uid } of named.roles) {
    const role = roles.get(uid);
    // It may grant anything.
    if (role && !listed.has(uid)) roles.set(uid, { ...(role as RoleNode), isUnlisted: true });
  }
  return {
    graph: { ...graph, roles } satisfies AccessGraph,
    notVisible: copy.notVisible.flatMap(({ kind, ...one }) => (isListedKind(kind) ? [{ kind, ...one }] : [])),
    ...{ createdAt, lastSeen },
    held: heldIn(twin.copy),
  };
};

const heldIn = ({ records }: Twin["copy"]): HeldRecord[] =>
  [resources.repo, resources.accountAssociation].flatMap(({ plural, word, list }) =>
    (records[plural] ?? []).map(({ uid, name }) => ({
      ...{ kind: word, uid, name: String(name) },
      group: "sharesUid" in list && list.sharesUid ? uid : parentOf(uid),
    })),
  );
