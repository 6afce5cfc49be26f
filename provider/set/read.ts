// Read of a set: one list, or a part of one that answers other reads of a refresh too. What was removed or changed by hand shows as a diff, and what others have added is recorded.
import { isDeepStrictEqual } from "node:util";
import { hasCode } from "../../client/errors.ts";
import type { Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { Reading, ReadResult } from "../reconcile/read.ts";
import { readUnlessDeleted } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import { listLive, withStored } from "./live.ts";
import { hiddenNames, inputsOf, outputsOf } from "./outputs.ts";
import { bindingsIn, grants, pairsIn, settingsOf } from "./pair.ts";
import { keptBy } from "./protect.ts";

/** `stored` are the outputs in the state; without any, the set is imported, and manages what the group has. */
export const readSet = async (
  session: Session,
  group: string,
  stored: Json,
  { inputs: given = {}, isRefresh = false }: Reading = {},
): Promise<ReadResult> => {
  const listed = await listLive(session, group, { isRefresh });
  if (listed.length === 0 && !(await isGroup(session, group))) return { id: "", props: {} };
  const live = await withStored(session, stored, listed);
  const byUid = new Map(live.map((one) => [one.uid, one]));
  const known = bindingsIn(stored, "bindings").flatMap(({ uid }) => byUid.get(uid) ?? []);
  const managed = stored.bindings === undefined ? live : known;
  const unmanaged = live.filter((one) => !managed.includes(one));
  const kept = keptBy(stored, group, live, unmanaged, await session.identity());
  const outputs = outputsOf({ group, managed, unmanaged, kept }, stored, hiddenNames([], stored));
  const described = inputsOf(outputs);
  return {
    id: group,
    props: outputs,
    inputs: isAsGiven(outputs, given) ? given : described,
    isUnchanged: isDeepStrictEqual(described, inputsOf(stored)),
  };
};

/** Whether the inputs describe what is managed. */
const isAsGiven = (outputs: Json, given: Json): boolean => {
  if (given.parent !== outputs.parent) return false;
  const pairs = pairsIn(given);
  const managed = bindingsIn(outputs, "bindings");
  return (
    pairs.length === managed.length &&
    pairs.every((pair) => managed.some((one) => grants(one, pair))) &&
    JSON.stringify(settingsOf(given)) === JSON.stringify(settingsOf(outputs))
  );
};

/** A group without bindings may be deleted. A caller may be allowed to read its bindings only. */
const isGroup = async (session: Session, group: string): Promise<boolean> => {
  try {
    return (await readUnlessDeleted(kindRecords.group, session, group, {})) !== undefined;
  } catch (error) {
    if (hasCode(error, "PERMISSION_DENIED")) return true;
    throw error;
  }
};
