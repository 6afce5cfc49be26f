// Groups of a caller who may not be able to list them: their names, and the one that a path means.
import type { Client } from "../../client/client.ts";
import { apiErrorOf, hasCode, sessionErrorOf } from "../../client/errors.ts";
import { listAll, listChildren } from "../../client/paginate.ts";
import { getRecord, isListable } from "../../client/records.ts";
import { ancestorsOf, isUidp, resources, suggestion } from "../../schema/index.ts";
import { type AccessGraph, newGraph, withoutSlashes } from "../graph/graph.ts";
import { addGroup } from "../graph/live-record.ts";
import { quote } from "../quote.ts";
import { QuestionError } from "./question.ts";
import type { OwnGrant } from "./whoami.ts";

type Reader = Pick<Client, "call" | "clock">;

const { group: GROUP } = resources;

/** Longest list of uids in an address: servers refuse a longer head of a request. */
const IDS_MAX_CHARACTERS = 6_000;

/** The groups of the grants and all above them, with the names that the caller can see. */
export const groupsOfGrants = async (client: Reader, grants: readonly OwnGrant[]): Promise<AccessGraph> => {
  const graph = newGraph();
  const uids = new Set(grants.flatMap(({ group }) => [...ancestorsOf(group), group]));
  for (const ids of inParts([...uids])) {
    try {
      for await (const { uid, name } of listAll(client, GROUP.list, { uidp: { ids } }))
        if (uids.has(uid)) addGroup(graph, uid, String(name));
    } catch (error) {
      // Without names, uids stand for them.
      if (apiErrorOf(error) === undefined || sessionErrorOf(error)) throw error;
    }
  }
  for (const { group, groupName } of grants) addGroup(graph, group, groupName);
  return graph;
};

const inParts = (uids: readonly string[]): string[][] => {
  const parts: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const uid of uids) {
    size += uid.length;
    if (size > IDS_MAX_CHARACTERS) {
      parts.push([]);
      size = uid.length;
    }
    parts.at(-1)?.push(uid);
  }
  return parts;
};

/**
 * The uid of the group that a text means: a uid, or a path from the organization down. Undefined where the caller cannot see enough to
 * tell. Throws a QuestionError where there is no such group, or more than one.
 */
export const findGroup = async (
  client: Reader,
  text: string,
  organization: string | null,
): Promise<string | undefined> => {
  const isUid: boolean = isUidp(text);
  if (isUid) return (await isMissing(client, text)) ? fail(`there is no group ${quote(text)}`) : text;
  if (text.trim() === "") return fail("a group is a uid or a path, and this is empty; / is the organization itself");
  if (organization === null) return undefined;
  const path = withoutSlashes(text);
  let groups = [organization];
  for (const name of path === "" ? [] : path.split("/")) {
    // Of several groups with one name, only those that have the rest of the path are meant.
    const found = (await Promise.all(groups.map((group) => childrenNamed(client, group, name)))).flat();
    if (found.length === 0) {
      const areListable = await Promise.all(groups.map((group) => isListable(client, GROUP, group)));
      if (areListable.includes(false)) return undefined;
      const names: string[] = [];
      for (const group of groups)
        for await (const one of listChildren(client, GROUP.list, group)) names.push(String(one.name));
      return fail(`there is no group ${quote(text)}${suggestion(name, names, 3)}`);
    }
    groups = found.sort();
  }
  if (groups.length > 1)
    return fail(
      `${groups.length} groups have the path ${quote(text)}; give a uid:${groups.map((uid) => `\n  ${uid}`).join("")}`,
    );
  return groups[0];
};

/** A service that ignores the filter must not decide which group is meant. */
const childrenNamed = async (client: Reader, group: string, name: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const one of listChildren(client, GROUP.list, group, { name })) if (one.name === name) found.push(one.uid);
  return found;
};

const fail = (message: string): never => {
  throw new QuestionError(message);
};

/** Only who may list a group learns that it does not exist (docs/contract.md#d5). */
const isMissing = async (client: Reader, uid: string): Promise<boolean> => {
  try {
    await getRecord(client, GROUP, uid);
    return false;
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return true;
    if (hasCode(error, "PERMISSION_DENIED") || hasCode(error, "UNIMPLEMENTED")) return false;
    throw error;
  }
};
