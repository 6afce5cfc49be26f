// Reads a set with one list, which may also answer other reads of a refresh. Manual removals and changes show as a diff, and bindings that
// others added are recorded.
import { isDeepStrictEqual } from "node:util";
import { hasCode } from "../../client/errors.ts";
import type { Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { type Binding, bindingsIn, grants, isPairKeyOf, pairsIn, settingsOf } from "../kind/pair.ts";
import type { Entry } from "../log/entry.ts";
import type { Reading, ReadResult } from "../reconcile/read.ts";
import { KEY } from "../record/state.ts";
import { readUnlessDeleted } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import { keptBy, listLive, withStored } from "./live.ts";
import { hiddenNames, inputsOf, outputsOf } from "./work.ts";

/** `stored` are the outputs in the state; without any, the set is imported, and manages the bindings of the group. */
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

/** Whether the inputs describe the managed bindings. */
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

/** A group without bindings may be deleted. A caller may have permission to read only its bindings. */
const isGroup = async (session: Session, group: string) => {
  try {
    return (await readUnlessDeleted(kindRecords.group, session, group, {})) !== undefined;
  } catch (error) {
    if (hasCode(error, "PERMISSION_DENIED")) return true;
    throw error;
  }
};

/**
 * The outputs of a set of an open stack, for a plan from the current group; undefined if the group does not exist. `stored` are the outputs
 * in the state. `created` are the creates of open runs: the set manages the bindings that they produced for it.
 */
export const observeSet = async (
  session: Session,
  group: string,
  stored: Json,
  created: readonly Entry[],
): Promise<Json | undefined> => {
  const about = withCreated(group, stored, created);
  const { id, props } = await readSet(session, group, about, { isRefresh: true });
  return id === "" ? undefined : props;
};

/** The outputs in the state, with the pairs that were created for this set. */
export const withCreated = (group: string, stored: Json, created: readonly Entry[]): Json => {
  const isOfSet = isPairKeyOf(String(stored[KEY]), group);
  const managed = bindingsIn(stored, "bindings");
  const added = created.flatMap(({ key, uid }): Binding[] => {
    if (uid === undefined || !isOfSet(key)) return [];
    const [identity = "", role = ""] = key.split(" ").slice(-2);
    return [{ uid, identity: named(managed, "identity", identity), role: named(managed, "role", role) }];
  });
  return { ...stored, bindings: [...managed, ...added] };
};

/** As the state names it: a name that it leaves out may be secret. */
const named = (bindings: readonly Binding[], part: "identity" | "role", uid: string) =>
  bindings.map((one) => one[part]).find((one) => one.uid === uid) ?? { uid };
