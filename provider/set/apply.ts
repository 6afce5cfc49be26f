// Create and update of a set: additions first, then removals. Whatever was done is recorded, so that the next run continues from what
// is there.
import { isListable } from "../../client/records.ts";
import { isRoot, type Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { Incomplete } from "../reconcile/incomplete.ts";
import { hiddenMembers, KEY } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { addMissing, declaredPairs } from "./add.ts";
import { listLive, withStored } from "./live.ts";
import { bindingsIn } from "./pair.ts";
import { planOf, removalsOf, requireFewRemovals } from "./plan.ts";
import { recoverInterrupted } from "./recover.ts";
import { removeSurplus } from "./remove.ts";
import { outputsOfWork, type Work } from "./work.ts";

/** The outputs. `olds` are those so far, none for a new set; `news` are inputs. */
export const applySet = async (session: Session, name: string, olds: Json, news: Json): Promise<Json> => {
  const { [KEY]: set, parent: group } = news as { [KEY]: string; parent: string };
  const plan = planOf(olds, news);
  requireFewRemovals(name, plan, news);
  const pairs = await declaredPairs(session, set, group, news);
  const known = bindingsIn(olds, "bindings");
  const isNew = known.length === 0 && isEmpty(session, set, group);
  const listed = isNew ? [] : await withStored(session, olds, await listLive(session, group));
  if (listed.length === 0 && pairs.length > 0) await requireListable(session, name, group);
  const recovery = await recoverInterrupted(session, set, group, listed);
  const work: Work = {
    ...{ session, name, set, group, olds, news, pairs, plan },
    shown: new Map([...removalsOf(plan), ...recovery.named].map((one) => [one.uid, one])),
    identity: await session.identity(),
    live: [...recovery.live],
    recovered: recovery.recovered,
    known: new Set(known.map(({ uid }) => uid)),
    own: new Set([...known.map(({ uid }) => uid), ...recovery.recovered.keys()]),
    hasChanged: false,
  };
  try {
    await addMissing(work);
    await removeSurplus(work);
  } catch (error) {
    if (!work.hasChanged) throw error;
    throw new Incomplete((error as Error).message, group, { ...outputsOfWork(work), ...hiddenMembers(news) });
  }
  return outputsOfWork(work);
};

/** A group of this run holds what this run declares there. An organization has an owner from the beginning. */
const isEmpty = ({ ownership, places }: Session, set: string, group: string): boolean =>
  !isRoot(group) && ownership.originOf(group) === "created" && !places.isShared(group, set);

/**
 * Throws where the list shows nothing because the caller may not see the group's bindings: the set would create pairs that exist. A group
 * of this run is as empty as it looks.
 */
const requireListable = async (session: Session, name: string, group: string): Promise<void> => {
  if (session.ownership.originOf(group) === "created" || (await isListable(session, kindRecords.roleBinding, group)))
    return;
  throw new Error(
    `RoleBindingSet ${name}: nothing is changed: the role bindings of group ${group} cannot be listed, so pairs that exist would be ` +
      "created a second time; grant the identity of this run role_bindings.list there",
  );
};
