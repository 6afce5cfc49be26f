// The access graph of what the API says now: everything that the caller can list, and where it cannot list. The API's lists never
// deny: a caller without the right gets fewer rows (docs/contract.md#authorization). What is missing is found by asking for a record
// that does not exist: the answer is 403 without the right, and 404 with it (docs/contract.md#d5).
import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/paginate.ts";
import { isListable } from "../../client/records.ts";
import {
  capabilityName,
  Identity,
  type Json,
  type Operation,
  oneofsOf,
  parentOf,
  resources,
  rootOf,
} from "../../schema/index.ts";
import { type AccessGraph, type GraphBuilder, type NodeId, newGraph } from "./graph.ts";

const KINDS = ["group", "identity", "role", "roleBinding"] as const;
export type ListedKind = (typeof KINDS)[number];

/** The records of a kind in a group, and in the groups below it that are not covered by themselves, cannot be listed. */
export interface NotVisible {
  kind: ListedKind;
  group: NodeId;
  message: string;
}

export interface Live {
  graph: AccessGraph;
  notVisible: NotVisible[];
}

export const readLive = async (client: Pick<Client, "call" | "clock">): Promise<Live> => {
  const [group, identity, role, roleBinding] = await Promise.all([
    allOf(client, "group"),
    allOf(client, "identity"),
    allOf(client, "role"),
    allOf(client, "roleBinding"),
  ]);
  const graph = newGraph();
  for (const { uid, name } of group) addGroup(graph, uid, name as string);
  for (const record of identity) addIdentity(graph, record);
  for (const record of role) addRole(graph, record);
  for (const record of roleBinding) addBinding(graph, record);
  return { graph, notVisible: await notVisibleIn(client, graph, { group, identity, role, roleBinding }) };
};

const allOf = async (client: Pick<Client, "call" | "clock">, kind: ListedKind): Promise<Listed[]> => {
  const records: Listed[] = [];
  for await (const record of listAll(client, resources[kind].list, {})) records.push(record);
  return records;
};

type Listed = Json & { uid: string };
type Named = { uid: string; name?: string };

const addGroup = (graph: GraphBuilder, uid: string, name?: string): void => {
  const parent = parentOf(uid);
  const known = graph.groups.get(uid);
  if (name !== undefined || known === undefined)
    graph.groups.set(uid, { id: uid, uid, name: name ?? known?.name ?? uid, parent: parent === "" ? null : parent });
  // A group that cannot be seen may hold one that can.
  if (parent !== "" && !graph.groups.has(parent)) addGroup(graph, parent);
};

/** Who may assume it, as the API's JSON has it. */
export const relationshipOf = (record: Json): Json | null => {
  const entries = Object.entries(record).filter(([name]) => RELATIONSHIPS.includes(name) && record[name] != null);
  return entries.length === 0 ? null : Object.fromEntries(entries);
};

/** The fields of an identity of which one says who may assume it. */
export const RELATIONSHIPS: readonly string[] = oneofsOf(Identity).get("relationship") ?? [];

const addIdentity = (graph: GraphBuilder, record: Listed): void => {
  const { uid, name } = record;
  addGroup(graph, parentOf(uid));
  graph.identities.set(uid, {
    id: uid,
    uid,
    name: String(name ?? uid),
    group: parentOf(uid),
    relationship: relationshipOf(record),
  });
};

const addRole = (graph: GraphBuilder, { uid, name, capabilities = [] }: Listed): void => {
  const group = parentOf(uid) || null;
  if (group) addGroup(graph, group);
  const held = (capabilities as string[]).map(capabilityName).sort();
  graph.roles.set(uid, { id: uid, uid, name: String(name ?? uid), group, capabilities: held });
};

// A binding shows the names of what it connects, also where their own lists do not.
const addBinding = (graph: GraphBuilder, record: Listed): void => {
  const { uid } = record;
  const [identity, group, role] = [record.identity, record.group, record.role] as Partial<Named>[];
  if (!identity?.uid || !role?.uid) return;
  const place = parentOf(uid);
  addGroup(graph, place, graph.groups.get(place)?.name === place ? group?.name : undefined);
  if (!graph.identities.has(identity.uid)) addIdentity(graph, identity as Listed);
  if (!graph.roles.has(role.uid)) addRole(graph, role as Listed);
  graph.bindings.set(uid, { id: uid, uid, group: place, identity: identity.uid, role: role.uid });
};

type Place = Pick<NotVisible, "kind" | "group">;

/** A record that is listed proves that its group's are. The other groups are asked about, from the organisations down. */
const notVisibleIn = async (
  client: Pick<Client, "call">,
  graph: AccessGraph,
  records: Readonly<Record<ListedKind, readonly Listed[]>>,
): Promise<NotVisible[]> => {
  const listed = Object.fromEntries(
    KINDS.map((kind) => [kind, new Set(records[kind].map(({ uid }) => (kind === "group" ? uid : parentOf(uid))))]),
  ) as Record<ListedKind, Set<NodeId>>;
  const children = Map.groupBy(graph.groups.keys(), parentOf);
  const hidden: Place[] = [];
  const roots = new Set([...graph.groups.keys()].map(rootOf));
  let level = [...roots].flatMap((group) => KINDS.map((kind): Place => ({ kind, group })));
  while (level.length > 0) {
    const asked = level.filter(({ kind, group }) => !listed[kind].has(group));
    const found = await hiddenAmong(client, asked);
    hidden.push(...found);
    level = found.flatMap(({ kind, group }) => (children.get(group) ?? []).map((child) => ({ kind, group: child })));
  }
  const position = ({ kind, group }: Place): string => `${rootOf(group)} ${KINDS.indexOf(kind)} ${group}`;
  return hidden
    .sort((a, b) => (position(a) < position(b) ? -1 : 1))
    .map(({ kind, group }) => ({
      kind,
      group,
      message: `${resources[kind].words} of this group cannot be listed: ${CAPABILITY[kind]} is needed at it`,
    }));
};

/** A caller may see the names of hundreds of groups and no more: each request of one level at once is too many. */
const PROBES_AT_ONCE = 8;

const hiddenAmong = async (client: Pick<Client, "call">, places: readonly Place[]): Promise<Place[]> => {
  const hidden: Place[] = [];
  const next = places.values();
  const probe = async (): Promise<void> => {
    for (const place of next) if (!(await isListable(client, resources[place.kind], place.group))) hidden.push(place);
  };
  await Promise.all(Array.from({ length: PROBES_AT_ONCE }, probe));
  return hidden;
};

const CAPABILITY = Object.fromEntries(
  KINDS.map((kind) => {
    const { methods, operations } = resources[kind];
    return [kind, (methods as Record<string, Operation>)[operations.get]?.capabilities.join(", ")];
  }),
) as Record<ListedKind, string>;
