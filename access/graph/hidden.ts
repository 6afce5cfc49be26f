// The records that the caller can list, and where it cannot. The API's lists never deny: a caller without the right gets fewer rows
// (docs/internals/contract.md#authorization).
import type { Client } from "../../client/client.ts";
import { apiErrorOf, apiText, hasCode, ListError, sessionErrorOf } from "../../client/errors.ts";
import { forEachOf } from "../../client/in-parallel.ts";
import { isListable, listAll } from "../../client/records.ts";
import {
  isObject,
  isUidp,
  type Json,
  levelOf,
  type Operation,
  parentOf,
  resources,
  rootOf,
} from "../../schema/index.ts";
import { inOrderOf } from "../canonical.ts";
import { quote } from "../text.ts";
import type { NodeId } from "./graph.ts";
import type { Listed } from "./live-record.ts";

export type Caller = Pick<Client, "call" | "clock">;

/** Kinds whose records are in groups: a caller may be allowed to list them only in some groups. */
export type HideableKind = Exclude<keyof typeof resources, "advisory" | "externalGroupRoleMapping">;

/** A kind, and a group in which its records cannot be listed. This includes groups below it for which nothing was asked separately. */
export interface NotListed<Kind extends string> {
  kind: Kind;
  /** uid; empty: the service does not answer this list at all */
  group: NodeId;
  message: string;
}

/** The group of a record; "" for a built-in role. */
export const groupOf = (kind: keyof typeof resources, uid: string): string => {
  if (kind === "group" || kind === "accountAssociation") return uid;
  return kind === "tag" || kind === "externalGroupRoleMapping" ? parentOf(parentOf(uid)) : parentOf(uid);
};

interface Asked<Kind extends HideableKind> {
  groups: readonly NodeId[];
  /** the groups to start from */
  tops: Iterable<NodeId>;
  kinds: readonly Kind[];
  records: Readonly<Record<Kind, readonly Listed[]>>;
}

/**
 * Where records cannot be listed, from the top down: if a group can be listed, everything below it can. A listed record proves that the
 * records of its group can be listed.
 */
export const notListedIn = async <Kind extends HideableKind>(
  client: Pick<Client, "call">,
  { groups, tops, kinds, records }: Asked<Kind>,
): Promise<NotListed<Kind>[]> => {
  const children = Map.groupBy(groups, parentOf);
  const listed = new Map(kinds.map((kind) => [kind, new Set(records[kind].map(({ uid }) => groupOf(kind, uid)))]));
  const hidden: Place<Kind>[] = [];
  let level = [...tops].flatMap((group) => kinds.map((kind) => ({ kind, group })));
  while (level.length > 0) {
    const asked = level.filter(({ kind, group }) => !listed.get(kind)?.has(group));
    const found: Place<Kind>[] = [];
    // A caller may see only the names of hundreds of groups.
    await forEachOf(asked, async (place) => {
      if (!(await isListable(client, resources[place.kind], place.group))) found.push(place);
    });
    hidden.push(...found);
    level = found.flatMap(({ kind, group }) => (children.get(group) ?? []).map((child) => ({ kind, group: child })));
  }
  return inOrderOf(hidden, ({ kind, group }) => `${rootOf(group)} ${kinds.indexOf(kind)} ${group}`).map(
    ({ kind, group }) => ({ kind, group, message: hiddenText(kind) }),
  );
};

type Place<Kind> = { kind: Kind; group: NodeId };

/** Why records of a kind in a group are not visible. */
const hiddenText = (kind: HideableKind) => {
  const { methods, operations, words } = resources[kind];
  const capability = (methods as Record<string, Operation>)[operations.get]?.capabilities.join(", ");
  return `${words} of this group cannot be listed: ${capability} is needed at it`;
};

/** All records of a kind that pass the filters. `isCore`: every service has this list, so without it the address is wrong. */
export const listVisible = async <Kind extends keyof typeof resources>(
  client: Caller,
  kind: Kind,
  filters: Json = {},
  isCore = false,
) => {
  const records: Listed[] = [];
  try {
    for await (const record of listAll(client, resources[kind].list, filters)) {
      checkRecord(kind, record);
      records.push(record);
    }
    return { kind, records };
  } catch (error) {
    if (!isRefused(error, isCore)) throw error;
    const cause = apiErrorOf(error);
    const message = `the list of ${resources[kind].words} cannot be read: ${cause ? apiText(cause) : String(error)}`;
    const notListed: NotListed<Kind> = { kind, group: "", message };
    return { kind, records: [], failure: { notListed, error } };
  }
};

/** Throws a ListError for a record in a place where its kind cannot be, or whose references are not uids. */
const checkRecord = (kind: keyof typeof resources, record: Listed): void => {
  const { list, word } = resources[kind];
  const fail = (problem: string) => {
    throw new ListError(list.operation, `the service lists the ${word} ${record.uid}, ${problem}.`);
  };
  if (levelOf(record.uid) < leastLevel(kind)) fail(`at a level where there is no ${word}`);
  for (const [field, isRequired] of REFERENCES[kind] ?? []) {
    const held = record[field];
    const uid = isObject(held) ? held.uid : held;
    const isMissing = uid === undefined || uid === "";
    if (isMissing ? isRequired : !isUidp(uid))
      fail(`whose ${field} ${isMissing ? "is missing" : `is not a uid: ${quote(uid)}`}`);
  }
};

/** The minimum number of levels of a record of the kind below the root. Built-in roles are at the root. */
const leastLevel = (kind: keyof typeof resources) => {
  if (kind === "role" || resources[kind].root || resources[kind].list.sharesUid) return 0;
  return resources[kind].parent === "Group" ? 1 : 2;
};

const REFERENCES: Partial<Record<keyof typeof resources, readonly (readonly [field: string, isRequired: boolean])[]>> =
  {
    roleBinding: [
      ["identity", true],
      ["role", true],
    ],
    externalGroupRoleMapping: [
      ["roleUid", true],
      ["scope", false],
    ],
    identityProvider: [["defaultRole", false]],
    groupInvite: [["role", false]],
  };

/** Whether the service does not answer this caller, or anyone. Without a method, it may send an error that is not the API's: UNKNOWN. */
export const isRefused = (error: unknown, isCore = false): boolean =>
  sessionErrorOf(error) === undefined &&
  (hasCode(error, "PERMISSION_DENIED") ||
    hasCode(error, "UNIMPLEMENTED") ||
    (!isCore && (hasCode(error, "NOT_FOUND") || hasCode(error, "UNKNOWN"))));
