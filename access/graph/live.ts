// The access graph of what the API says now: everything that the caller can list, and where it cannot list. The API's lists never
// deny: a caller without the right gets fewer rows (docs/contract.md#authorization). What is missing is found by asking for a record
// that does not exist: the answer is 403 without the right, and 404 with it (docs/contract.md#d5). Another service may refuse a whole
// list, or not have it: the rest of the graph is read all the same.
import type { Client } from "../../client/client.ts";
import { parentOf, rootOf } from "../../schema/index.ts";
import { worstFirst } from "./danger.ts";
import { type AccessGraph, lineageOf, type NodeId, newGraph, pathOf } from "./graph.ts";
import { hiddenPlaces, hiddenText, listVisible, type Place } from "./hidden.ts";
import {
  addBinding,
  addExternalGroup,
  addGroup,
  addIdentity,
  addInvite,
  addProvider,
  addRole,
  type Listed,
} from "./live-record.ts";

/** Records in a group. A caller may be allowed to list them in some groups only. */
const PLACED = ["group", "identity", "role", "roleBinding", "identityProvider", "groupInvite"] as const;
/** External groups are listed with the right to list their identity providers. */
const KINDS = [...PLACED, "externalGroupRoleMapping"] as const;
export type ListedKind = (typeof KINDS)[number];
type PlacedKind = (typeof PLACED)[number];

/** The records of a kind in a group, and in the groups below it that are not covered by themselves, cannot be listed. */
export interface NotVisible {
  kind: ListedKind;
  /** empty: the service does not answer this list at all */
  group: NodeId;
  message: string;
}

export interface Live {
  graph: AccessGraph;
  notVisible: NotVisible[];
  /** RFC 3339, by uid; absent: not known */
  createdAt?: ReadonlyMap<NodeId, string>;
  /** when an identity last got a token, or was created: RFC 3339, by uid; absent: not known */
  lastSeen?: ReadonlyMap<NodeId, string>;
}

type Caller = Pick<Client, "call" | "clock">;

export const readLive = async (client: Caller): Promise<Live> => {
  const { records, failed, ...listed } = await readListed(client);
  // Every list failed, so this is not an empty graph: the address may not belong to the API.
  if (failed.length === KINDS.length) throw failed[0]?.error;
  const refused = failed.map(({ notVisible }) => notVisible);
  const asked = PLACED.filter((kind) => !refused.some((one) => one.kind === kind));
  // Every caller with a right somewhere sees a group: without one, nothing was asked about.
  const blind: NotVisible[] =
    records.group.length > 0 || refused.some(({ kind }) => kind === "group")
      ? []
      : [
          {
            kind: "group",
            group: "",
            message: "you can see no group, so all of them may be hidden: groups.list is needed",
          },
        ];
  const notVisible = [...refused, ...blind, ...(await notVisibleIn(client, listed.graph, records, asked))];
  return { ...listed, notVisible };
};

/** What the lists have, to a caller who may list everything or of whom it is known what they may not. */
export const readListed = async (client: Caller) => {
  const lists = await Promise.all(KINDS.map((kind) => listOf(client, kind)));
  const records = Object.fromEntries(lists.map(({ kind, records: own }) => [kind, own])) as unknown as Records;
  const graph = newGraph();
  for (const { uid, name } of records.group) addGroup(graph, uid, name as string);
  for (const record of records.identity) addIdentity(graph, record);
  for (const record of records.role) addRole(graph, record);
  for (const record of records.roleBinding) addBinding(graph, record);
  for (const record of records.identityProvider) addProvider(graph, record);
  for (const record of records.externalGroupRoleMapping) addExternalGroup(graph, record);
  for (const record of records.groupInvite) addInvite(graph, record);
  const failed = lists.flatMap(({ failure }) => failure ?? []);
  const createdAt = timesOf(Object.values(records).flat(), ({ createTime }) => createTime);
  const lastSeen = timesOf(records.identity, ({ lastSeenTime, createTime }) => lastSeenTime || createTime);
  return { graph, records, failed, createdAt, lastSeen };
};

export const isListedKind = (kind: string): kind is ListedKind => KINDS.some((one) => one === kind);

/** By uid, the times of those that have one. */
const timesOf = (records: readonly Listed[], timeOf: (record: Listed) => unknown): ReadonlyMap<NodeId, string> =>
  new Map(
    records.flatMap((record) => {
      const time = timeOf(record);
      return typeof time === "string" ? [[record.uid, time] as const] : [];
    }),
  );

type Records = Readonly<Record<ListedKind, readonly Listed[]>>;

// Every service has groups, identities, roles and bindings: without them, the address is wrong.
const CORE: readonly ListedKind[] = ["group", "identity", "role", "roleBinding"];

const listOf = async (client: Caller, kind: ListedKind) => {
  const { records, failure } = await listVisible(client, kind, {}, CORE.includes(kind));
  if (failure === undefined) return { kind, records };
  const { message, error } = failure;
  return { kind, records, failure: { notVisible: { kind, group: "", message }, error } };
};

/** A record that is listed proves that its group's are. The other groups are asked about. */
const notVisibleIn = async (
  client: Pick<Client, "call">,
  graph: AccessGraph,
  records: Records,
  kinds: readonly PlacedKind[],
): Promise<NotVisible[]> => {
  const listed = new Map(
    kinds.map((kind) => [kind, new Set(records[kind].map(({ uid }) => (kind === "group" ? uid : parentOf(uid))))]),
  );
  const groups = [...graph.groups.keys()];
  const hidden = await hiddenPlaces(client, { groups, tops: new Set(groups.map(rootOf)), kinds, listed });
  const position = ({ kind, group }: Place<PlacedKind>): string => `${rootOf(group)} ${PLACED.indexOf(kind)} ${group}`;
  return hidden
    .sort((a, b) => (position(a) < position(b) ? -1 : 1))
    .map(({ kind, group }) => ({ kind, group, message: hiddenText(kind) }));
};

// Whether records of a kind could be listed in a group: what cannot be listed may exist all the same.

type IsVisible<Kind extends string = ListedKind> = (kind: Kind, group: NodeId) => boolean;

/** A group that the graph does not have is as visible as the nearest one above it. */
export const visibilityIn = <Kind extends string = ListedKind>(
  graph: AccessGraph,
  notVisible: readonly { kind: Kind; group: NodeId }[],
): IsVisible<Kind> => {
  const hidden = new Set(notVisible.map(({ kind, group }) => `${kind} ${group}`));
  return (kind, group) => {
    if (hidden.has(`${kind} `)) return false;
    const known = graph.groups.has(group) ? group : lineageByUid(group).find((id) => graph.groups.has(id));
    const asked = known ?? group;
    // A new group is in one that exists.
    const existing = lineageOf(graph, asked).find((id) => graph.groups.get(id)?.uid !== null) ?? asked;
    return !hidden.has(`${kind} ${existing}`);
  };
};

const lineageByUid = (uid: string): string[] =>
  uid
    .split("/")
    .map((_, i, segments) => segments.slice(0, segments.length - i).join("/"))
    .slice(1);

/** What the caller may not list, by path. */
export const notVisibleRows = (
  graph: AccessGraph,
  notVisible: readonly NotVisible[],
): (NotVisible & { groupName: string })[] =>
  worstFirst(
    notVisible.map(({ kind, group, message }) => ({ kind, group, groupName: pathOf(graph, group), message })),
    ({ groupName: place, kind }) => ({ place, texts: [kind] }),
  );
