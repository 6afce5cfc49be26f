// Existing records, below a group or wherever the caller can see them, in one list of each kind: with the fewest requests, and no record is
// read twice.
import { ancestorsOf, isAncestorOrSelf, isRoot, type Json, parentOf, rootOf } from "../../schema/index.ts";
import { newGraph } from "../graph/graph.ts";
import { type Caller, groupOf, type HideableKind, listVisible, type NotListed, notListedIn } from "../graph/hidden.ts";
import { addGroup, type Listed } from "../graph/live-record.ts";
import { resolveQuestion } from "../query/question.ts";

/** In the order of a program: a kind follows the kinds that its records refer to. */
export const KINDS = [
  "group",
  "role",
  "identity",
  "identityProvider",
  "externalGroupRoleMapping",
  "roleBinding",
  "groupInvite",
  "accountAssociation",
  "repo",
  "tag",
] as const;
export type ExportKind = (typeof KINDS)[number];

/** Mappings are listed with the right to list their identity providers. */
const HIDEABLE = KINDS.filter((kind) => kind !== "externalGroupRoleMapping") satisfies HideableKind[];

export type NotVisible = NotListed<ExportKind>;

export interface VisibleRecords {
  /** names of all groups that the caller can list, by uid */
  groupNames: ReadonlyMap<string, string>;
  records: Readonly<Record<ExportKind, readonly Listed[]>>;
  notVisible: readonly NotVisible[];
}

export interface Contents extends VisibleRecords {
  /** uid of the group that is exported; empty: no group contains everything */
  top: string;
  /** only the records that Terraform manages, while others exist */
  isPart?: boolean;
  /** names of built-in roles, by uid */
  builtInRoles: ReadonlyMap<string, string>;
}

/** Called with the number of records of each kind as its list ends. */
export type OnRead = (kind: ExportKind, count: number) => void;

/** Chooses the uid of the group to export, among those that the caller can list. */
export type ChooseTop = (groups: readonly Listed[]) => string;

/** `group` is a uid, or a path from the organization down; without it, the only organization. Throws QuestionError. */
export const readContents = async (
  client: Caller,
  group: string | ChooseTop = "/",
  onRead: OnRead = () => {},
): Promise<Contents> => {
  const groups = await listGroups(client);
  const top = typeof group === "string" ? topOf(groups, group) : group(groups);
  const below = groups.filter(({ uid }) => isAncestorOrSelf(top, uid));
  const { records, notVisible } = await readRecords(client, below, top, onRead);
  return { top, groupNames: namesOf(groups), builtInRoles: await builtInRolesOf(client, records), records, notVisible };
};

/** Everything that the caller can list, with the built-in roles. */
export const readVisible = async (client: Caller, onRead: OnRead = () => {}): Promise<VisibleRecords> => {
  const groups = await listGroups(client);
  return { groupNames: namesOf(groups), ...(await readRecords(client, groups, undefined, onRead)) };
};

export const listGroups = async (client: Caller): Promise<Listed[]> => {
  const { records, failure } = await listVisible(client, "group", {}, true);
  if (failure) throw failure.error;
  return records;
};

export const namesOf = (groups: readonly Listed[]): VisibleRecords["groupNames"] =>
  new Map(groups.map(({ uid, name }) => [uid, String(name)]));

/** `top`: reads only records below this group. */
const readRecords = async (
  client: Caller,
  groups: readonly Listed[],
  top: string | undefined,
  onRead: OnRead,
): Promise<Pick<VisibleRecords, "records" | "notVisible">> => {
  onRead("group", groups.length);
  const others = KINDS.filter((kind) => kind !== "group");
  const lists = await Promise.all(others.map((kind) => listOf(client, kind, top, onRead)));
  const all = [{ kind: "group", records: groups }, ...lists];
  const records = Object.fromEntries(all.map((list) => [list.kind, list.records])) as unknown as Records;
  const refused = lists.flatMap(({ failure }) => failure?.notListed ?? []);
  return { records, notVisible: [...refused, ...(await notVisibleAmong(client, top, records, refused))] };
};

const topOf = (groups: readonly Listed[], text: string) => {
  const graph = newGraph();
  for (const { uid, name } of groups) addGroup(graph, uid, String(name));
  return resolveQuestion(graph, { group: text }, true).group?.uid as string;
};

const listOf = async (client: Caller, kind: ExportKind, top: string | undefined, onRead: OnRead) => {
  const filters = top === undefined ? {} : { uidp: { descendantsOf: top } };
  const list = await listVisible(client, kind, filters);
  // An account association has the uid of its group, so the association of the group itself is not below it.
  if (top !== undefined && kind === "accountAssociation" && list.failure === undefined)
    list.records.unshift(...(await listVisible(client, kind, { uidp: { ids: [top] } })).records);
  onRead(kind, list.records.length);
  return list;
};

export type Records = Contents["records"];

/** Bindings and invites show the names of their roles. The built-in roles are listed only for the other records. */
export const builtInRolesOf = async (client: Caller, records: Records): Promise<Map<string, string>> => {
  const { roleBinding, groupInvite, identityProvider, externalGroupRoleMapping } = records;
  const shown = [...roleBinding, ...groupInvite].map(({ role }) => role as Json | undefined);
  const names = new Map(
    shown.flatMap((role) => (isBuiltIn(role?.uid) ? [[role.uid, String(role.name)] as const] : [])),
  );
  const named = [
    ...identityProvider.map((one) => one.defaultRole),
    ...externalGroupRoleMapping.map((one) => one.roleUid),
  ];
  if (named.every((uid) => !isBuiltIn(uid) || names.has(uid))) return names;
  const { records: all } = await listVisible(client, "role", { uidp: { inRoot: true } });
  return new Map([...names, ...all.map(({ uid, name }) => [uid, String(name)] as const)]);
};

const isBuiltIn = (uid: unknown): uid is string => typeof uid === "string" && uid !== "" && isRoot(uid);

const notVisibleAmong = async (
  client: Caller,
  top: string | undefined,
  records: Records,
  refused: readonly NotVisible[],
): Promise<NotVisible[]> => {
  const kinds = HIDEABLE.filter((kind) => !refused.some((one) => one.kind === kind));
  // A group that cannot be listed may contain a record that can.
  const places = KINDS.flatMap((kind) => records[kind].map(({ uid }) => groupOf(kind, uid)));
  const known = new Set([...places, top ?? ""].flatMap((uid) => (uid === "" ? [] : [uid, ...ancestorsOf(uid)])));
  const groups = [...known].filter((uid) => top === undefined || isAncestorOrSelf(top, uid));
  const tops = top === undefined ? new Set(groups.map(rootOf)) : [top];
  return notListedIn(client, { groups, tops, kinds, records });
};

/** The names from the organization down, without its own; the uid of a group that the caller cannot list. */
export const pathIn = ({ groupNames }: Pick<Contents, "groupNames">, group: string): string => {
  const path: string[] = [];
  for (let uid = group; uid !== rootOf(group); uid = parentOf(uid)) path.unshift(groupNames.get(uid) ?? uid);
  return path.join("/") || "/";
};
