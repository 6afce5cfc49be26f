// Create and update of a set: additions first, then removals. All completed changes are recorded, so that the next run continues from
// there.

import { quoting } from "../../client/errors.ts";
import { isListable } from "../../client/records.ts";
import { BATCH_MAX, bulleted, isRoot, type Json, pairsTwice } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import {
  bindingsIn,
  bindingText,
  type DeclaredPair,
  declaredText,
  desiredPair,
  pairsIn,
  withRoleUids,
} from "../kind/pair.ts";
import { Incomplete } from "../reconcile/incomplete.ts";
import { recordId } from "../record/id.ts";
import { hiddenMembers, KEY } from "../record/state.ts";
import { createAll, isRefusal } from "../recovery/create.ts";
import type { Session } from "../run/session.ts";
import { type Live, listLive, liveFrom, recoverInterrupted, withOthers, withStored } from "./live.ts";
import { planOf, removalsOf, requireFewRemovals } from "./plan.ts";
import { removeSurplus } from "./remove.ts";
import { outputsOfWork, type Pair, type Work } from "./work.ts";

/** The outputs. `olds` are those so far, none for a new set; `news` are inputs. */
export const applySet = async (session: Session, name: string, olds: Json, news: Json): Promise<Json> => {
  const { [KEY]: set, parent: group } = news as { [KEY]: string; parent: string };
  const plan = planOf(olds, news);
  requireFewRemovals(name, plan, news);
  const pairs = await declaredPairs(session, set, group, news);
  const known = bindingsIn(olds, "bindings");
  const { ownership, places } = session;
  // A group that this run created holds only bindings that it declares there. An organization has an owner from the beginning.
  const isEmpty = !isRoot(group) && ownership.originOf(group) === "created" && !places.isShared(group, set);
  const isNew = known.length === 0 && isEmpty;
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

/**
 * Throws if the list shows nothing because the caller may not see the group's bindings: the set would create existing pairs. A group that
 * this run created is really empty.
 */
const requireListable = async (session: Session, name: string, group: string) => {
  if (session.ownership.originOf(group) === "created" || (await isListable(session, kindRecords.roleBinding, group)))
    return;
  throw new Error(
    `RoleBindingSet ${name}: nothing is changed: the role bindings of group ${group} cannot be listed, so pairs that exist would be ` +
      "created a second time; grant the identity of this run role_bindings.list there",
  );
};

// Additions of a set. A pair whose binding exists adopts it; the other bindings are created.

const declaredPairs = async (session: Session, set: string, group: string, news: Json): Promise<Pair[]> => {
  const declared = pairsIn(news);
  const resolved = await withRoleUids(session, declared);
  const problems = pairsTwice(resolved).map(({ field, description }) => `${field}: ${description}`);
  if (problems.length > 0) throw new Error(bulleted(`${set}: nothing is changed:`, ...problems));
  return resolved.map(({ identity, role }, i) => {
    const pair = declared[i] as DeclaredPair;
    return { desired: desiredPair(set, group, identity, role), declared: pair, text: declaredText(pair) };
  });
};

const addMissing = async (work: Work): Promise<void> => {
  const { session, set, group, pairs } = work;
  for (;;) {
    takeExisting(work);
    const missing = pairs.filter(({ live, problem }) => !live && problem === undefined);
    if (missing.length === 0) break;
    let isInterrupted = false;
    for (let at = 0; at < missing.length && !isInterrupted; at += BATCH_MAX)
      isInterrupted = await createPairs(work, missing.slice(at, at + BATCH_MAX));
    // Another run of this stack is creating some of the pairs.
    if (isInterrupted) {
      const live = withOthers(await listLive(session, group), work.live);
      work.live = [...(await recoverInterrupted(session, set, group, live)).live];
    }
  }
  const problems = pairs.flatMap(({ problem }) => problem ?? []);
  if (problems.length === 0) return;
  const count = problems.length === 1 ? "1 role binding was" : `${problems.length} role bindings were`;
  const head = `RoleBindingSet ${work.name}: ${count} not created:`;
  throw new Error(quoting(problems, (lines) => bulleted(head, ...lines)));
};

/** Creates the bindings of some pairs. Returns whether another run has left an entry for one of them. */
const createPairs = async (work: Work, missing: readonly Pair[]): Promise<boolean> => {
  const existing = { records: work.live.map(({ record }) => record), isComplete: true };
  const asked = missing.map(({ desired }) => desired);
  const outcomes = await createAll(work.session, asked, existing);
  let fatal: Error | undefined;
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome === undefined) continue;
    const pair = missing[i] as Pair;
    if ("record" in outcome) {
      const one = liveFrom(outcome.record);
      work.live.push(one);
      work.own.add(one.uid);
      work.hasChanged = true;
    } else if (isRefusal(outcome.error)) pair.problem = `${pair.text}: ${outcome.error.message}`;
    else fatal ??= outcome.error;
  }
  if (fatal) throw fatal;
  return outcomes.includes(undefined);
};

/** Finds the bindings of the pairs. A binding that the set did not manage is adopted, never duplicated. */
const takeExisting = (work: Work): void => {
  const { own, shown, known, recovered } = work;
  const { ownership } = work.session;
  const taken: Live[] = [];
  const byPair = Map.groupBy(work.live, ({ identity, role }) => `${identity.uid} ${role.uid}`);
  for (const pair of work.pairs) {
    if (pair.live) continue;
    const { key, args } = pair.desired;
    const found = byPair.get(`${args.identityUid} ${args.roleUid}`) ?? [];
    const idOf = ({ uid }: Live) => recordId(kindRecords.roleBinding.field, uid);
    const free = found.filter((one) => ownership.adoptionRefusal(idOf(one), key) === undefined);
    const chosen =
      free.find(({ uid }) => own.has(uid) && !shown.has(uid)) ?? free.find(({ uid }) => own.has(uid)) ?? free[0];
    pair.live = chosen;
    if (chosen === undefined) {
      const other = found.find((one) => !ownership.isLeaving(idOf(one)));
      if (other)
        pair.problem = `${pair.text}: role binding ${other.uid} ${ownership.adoptionRefusal(idOf(other), key)}; declare the pair once`;
    } else if (!ownership.isOwnedBy(idOf(chosen), key)) {
      ownership.take(idOf(chosen), key, recovered.has(chosen.uid) ? "recovered" : "adopted");
      if (known.has(chosen.uid)) continue;
      taken.push(chosen);
      own.add(chosen.uid);
      work.hasChanged = true;
    }
  }
  logTakeover(work, taken);
};

const logTakeover = ({ session, name, recovered }: Work, taken: readonly Live[]): void => {
  if (taken.length === 0) return;
  const head = `RoleBindingSet ${name}: adopts role bindings that exist:`;
  const lines = taken.map((one) => {
    const by = recovered.has(one.uid) ? ", created by an earlier run" : "";
    return `${bindingText(one)}: ${one.uid}${by}`;
  });
  session.log(bulleted(head, ...lines));
};
