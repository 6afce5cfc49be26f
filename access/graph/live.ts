// The access graph of the current records: everything that the caller can list, and where it cannot list. The API's lists never deny: a
// caller without the right gets fewer rows (docs/internals/contract.md#authorization). To find missing rights, it asks for a record that does not
// exist: the answer is 403 without the right, and 404 with it (docs/internals/contract.md#d5). Another service may refuse or lack a whole list: the
// rest of the graph is still read.
import { ancestorsOf, rootOf } from "../../schema/index.ts";
import { worstFirst } from "./danger.ts";
import { type AccessGraph, lineageOf, type NodeId, newGraph, pathOf } from "./graph.ts";
import { type Caller, listVisible, type NotListed, notListedIn } from "./hidden.ts";
import { ADD, type Listed } from "./live-record.ts";

export type ListedKind = keyof typeof ADD;
const KINDS = Object.keys(ADD) as ListedKind[];

/** External groups are listed with the right to list their identity providers. */
const PLACED = KINDS.filter((kind) => kind !== "externalGroupRoleMapping");

export type NotVisible = NotListed<ListedKind>;

export interface Live {
  graph: AccessGraph;
  notVisible: NotVisible[];
  /** RFC 3339, by uid; absent: unknown */
  createdAt?: ReadonlyMap<NodeId, string>;
  /** when an identity last got a token, or was created: RFC 3339, by uid; absent: unknown */
  lastSeen?: ReadonlyMap<NodeId, string>;
}

export const readLive = async (client: Caller): Promise<Live> => {
  const { records, failed, ...listed } = await readListed(client);
  // Every list failed, so this is not an empty graph: the address may not belong to the API.
  if (failed.length === KINDS.length) throw failed[0]?.error;
  const refused = failed.map(({ notListed }) => notListed);
  const kinds = PLACED.filter((kind) => !refused.some((one) => one.kind === kind));
  // Every caller with a right somewhere sees a group: without one, no other question was asked.
  const isBlind = records.group.length === 0 && !refused.some(({ kind }) => kind === "group");
  const message = "you can see no group, so all of them may be hidden: groups.list is needed";
  const blind: NotVisible[] = isBlind ? [{ kind: "group", group: "", message }] : [];
  const groups = [...listed.graph.groups.keys()];
  const hidden = await notListedIn(client, { groups, tops: new Set(groups.map(rootOf)), kinds, records });
  return { ...listed, notVisible: [...refused, ...blind, ...hidden] };
};

/** The contents of the lists, for a caller who may list everything or whose missing rights are known. */
export const readListed = async (client: Caller) => {
  const lists = await Promise.all(KINDS.map((kind) => listVisible(client, kind, {}, CORE.includes(kind))));
  const records = Object.fromEntries(lists.map(({ kind, records: own }) => [kind, own])) as unknown as Readonly<
    Record<ListedKind, readonly Listed[]>
  >;
  const graph = newGraph();
  for (const kind of KINDS) for (const record of records[kind]) ADD[kind](graph, record);
  const failed = lists.flatMap(({ failure }) => failure ?? []);
  const createdAt = timesOf(Object.values(records).flat(), ({ createTime }) => createTime);
  const lastSeen = timesOf(records.identity, ({ lastSeenTime, createTime }) => lastSeenTime || createTime);
  return { graph, records, failed, createdAt, lastSeen };
};

export const isListedKind = (kind: string): kind is ListedKind => KINDS.some((one) => one === kind);

/** The times of the records that have one, by uid. */
const timesOf = (records: readonly Listed[], timeOf: (record: Listed) => unknown) =>
  new Map(
    records.flatMap((record) => {
      const time = timeOf(record);
      return typeof time === "string" ? [[record.uid, time] as const] : [];
    }),
  );

// Every service has groups, identities, roles and bindings: without them, the address is wrong.
const CORE: readonly ListedKind[] = ["group", "identity", "role", "roleBinding"];

/**
 * Whether records of a kind could be listed in a group: records that cannot be listed may still exist. A group that is not in the graph is
 * as visible as the nearest one above it.
 */
export const visibilityIn = <Kind extends string = ListedKind>(
  graph: AccessGraph,
  notVisible: readonly { kind: Kind; group: NodeId }[],
): ((kind: Kind, group: NodeId) => boolean) => {
  const hidden = new Set(notVisible.map(({ kind, group }) => `${kind} ${group}`));
  return (kind, group) => {
    if (hidden.has(`${kind} `)) return false;
    const known = graph.groups.has(group) ? group : ancestorsOf(group).findLast((id) => graph.groups.has(id));
    const asked = known ?? group;
    // A new group is inside an existing one.
    const existing = lineageOf(graph, asked).find((id) => graph.groups.get(id)?.uid !== null) ?? asked;
    return !hidden.has(`${kind} ${existing}`);
  };
};

/** The kinds that the caller may not list, by path. */
export const notVisibleRows = (
  graph: AccessGraph,
  notVisible: readonly NotVisible[],
): (NotVisible & { groupName: string })[] =>
  worstFirst(
    notVisible.map(({ kind, group, message }) => ({ kind, group, groupName: pathOf(graph, group), message })),
    ({ groupName: place, kind }) => ({ place, texts: [kind] }),
  );
