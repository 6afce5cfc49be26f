// Groups of a caller who may not be able to list them: their names, and the group that a path means.
import { apiErrorOf, hasCode, sessionErrorOf } from "../../client/errors.ts";
import { getRecord, isListable, listAll, listChildren, partsOf } from "../../client/records.ts";
import { ancestorsOf, isAncestorOrSelf, isUidp, resources, rootOf, suggestion } from "../../schema/index.ts";
import { friendlyCapability } from "../capability.ts";
import { type AccessGraph, newGraph, withoutSlashes } from "../graph/graph.ts";
import type { Caller } from "../graph/hidden.ts";
import { addGroup } from "../graph/live-record.ts";
import { quote } from "../text.ts";
import { QuestionError } from "./question.ts";
import { type OwnGrant, throughText, type WhoAmI } from "./whoami.ts";

const { group: GROUP } = resources;

/** The groups of the grants and all groups above them, with the names that the caller can see. */
export const groupsOfGrants = async (client: Caller, grants: readonly OwnGrant[]): Promise<AccessGraph> => {
  const graph = newGraph();
  const uids = new Set(grants.flatMap(({ group }) => [...ancestorsOf(group), group]));
  for (const ids of partsOf(uids)) {
    try {
      for await (const { uid, name } of listAll(client, GROUP.list, { uidp: { ids } }))
        if (uids.has(uid)) addGroup(graph, uid, String(name));
    } catch (error) {
      // Without names, uids replace them.
      if (apiErrorOf(error) === undefined || sessionErrorOf(error)) throw error;
    }
  }
  for (const { group, groupName } of grants) addGroup(graph, group, groupName);
  return graph;
};

/**
 * The uid of the group that a text means: a uid, or a path from the organization down. Undefined if the caller cannot see enough to tell.
 * Throws a QuestionError if there is no such group, or more than one.
 */
const findGroup = async (client: Caller, text: string, organization: string | null): Promise<string | undefined> => {
  const isUid: boolean = isUidp(text);
  if (isUid) return (await isMissing(client, text)) ? fail(`there is no group ${quote(text)}`) : text;
  if (text.trim() === "") return fail("a group is a uid or a path, and this is empty; / is the organization itself");
  if (organization === null) return undefined;
  const path = withoutSlashes(text);
  let groups = [organization];
  for (const name of path === "" ? [] : path.split("/")) {
    // If several groups share a name, only groups with the rest of the path are meant.
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
const childrenNamed = async (client: Caller, group: string, name: string) => {
  const found: string[] = [];
  for await (const one of listChildren(client, GROUP.list, group, { name })) if (one.name === name) found.push(one.uid);
  return found;
};

const fail = (message: string) => {
  throw new QuestionError(message);
};

/** Only a caller who may list a group learns that it does not exist (docs/internals/contract.md#d5). */
const isMissing = async (client: Caller, uid: string): Promise<boolean> => {
  try {
    await getRecord(client, GROUP, uid);
    return false;
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return true;
    if (hasCode(error, "PERMISSION_DENIED") || hasCode(error, "UNIMPLEMENTED")) return false;
    throw error;
  }
};

// "May I do this here?", answered from the access that the caller holds. An unknown answer counts as no.

/** As the user writes it: a capability by either name, a group by uid, path or `/`. */
export interface CheckText {
  capability: string;
  group: string;
}

export interface CheckAnswer {
  /** friendly name, or the API's name of one that this version does not know */
  capability: string;
  /** uid; null if the caller cannot see which group the path means */
  group: string | null;
  isHeld: boolean;
  /** `yes, through viewer` */
  message: string;
}

/** Throws a QuestionError if there is no such group. */
export const checkOwn = async (
  client: Caller,
  who: WhoAmI,
  { capability: text, group: path }: CheckText,
): Promise<CheckAnswer> => {
  const capability = friendlyCapability(text) ?? text;
  const group = await findGroup(client, path, organizationOf(who));
  if (group === undefined) {
    const message = "not known, which counts as no: you cannot see which group this path means; give its uid";
    return { capability, group: null, isHeld: false, message };
  }
  const roles = who.grants
    .filter((grant) => isAncestorOrSelf(grant.group, group) && grant.capabilities.includes(capability))
    .map(throughText);
  const answer = { capability, group, isHeld: roles.length > 0 };
  if (answer.isHeld) return { ...answer, message: `yes, through ${[...new Set(roles)].join(", ")}` };
  const { notKnown } = who;
  return {
    ...answer,
    message: notKnown.length === 0 ? "no" : `not known, which counts as no: ${notKnown.join("; ")}`,
  };
};

/** The start of paths: the organization of the identity, or the only one where it may do something. */
const organizationOf = ({ identity, grants }: WhoAmI) => {
  const own = identity === null ? null : rootOf(identity);
  const organizations = new Set(grants.map(({ group }) => rootOf(group)));
  if (own !== null && organizations.has(own)) return own;
  const [organization = own, ...others] = organizations;
  return others.length === 0 ? organization : own;
};
