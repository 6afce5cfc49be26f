// Create and update of a set: additions first, then removals. Whatever was done is recorded, so that the next run continues from what
// is there.
import { isListable } from "../../client/records.ts";
import { BATCH_MAX, isRoot, type Json, pairsTwice } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { Incomplete } from "../reconcile/incomplete.ts";
import { recordId } from "../record/id.ts";
import { hiddenMembers, KEY } from "../record/state.ts";
import { createAll, isRefusal } from "../recovery/create.ts";
import type { Session } from "../run/session.ts";
import { withRoleUids } from "./check.ts";
import { type Live, listLive, liveFrom, withOthers, withStored } from "./live.ts";
import { hiddenNames, outputsOf } from "./outputs.ts";
import { bindingsIn, bindingText, type DeclaredPair, declaredText, desiredPair, pairsIn } from "./pair.ts";
import { planOf, removalsOf, requireFewRemovals } from "./plan.ts";
import { removeSurplus } from "./remove.ts";
import { settleInterrupted } from "./settle.ts";
import { keptIn, type Pair, undeclaredIn, type Work } from "./work.ts";

const kind = kindRecords.roleBinding;

/** The outputs. `olds` are those so far, none for a new set; `news` are inputs. */
export const applySet = async (session: Session, name: string, olds: Json, news: Json): Promise<Json> => {
  const { [KEY]: set, parent: group } = news as { [KEY]: string; parent: string };
  const plan = planOf(olds, news);
  requireFewRemovals(name, plan, news);
  const pairs = await pairsOf(session, set, group, news);
  const known = bindingsIn(olds, "bindings");
  const isNew = known.length === 0 && isEmpty(session, set, group);
  const listed = isNew ? [] : await withStored(session, olds, await listLive(session, group));
  if (listed.length === 0 && pairs.length > 0) await requireListable(session, name, group);
  const settled = await settleInterrupted(session, set, group, listed);
  const work: Work = {
    ...{ session, name, group, pairs, plan },
    shown: new Map(removalsOf(plan).map((one) => [one.uid, one])),
    identity: await session.identity(),
    live: [...settled.live],
    recovered: settled.recovered,
    managed: new Map(),
    known: new Set(known.map(({ uid }) => uid)),
    own: new Set([...known.map(({ uid }) => uid), ...settled.recovered.keys()]),
    hasChanged: false,
  };
  try {
    await add(work, set);
    await removeSurplus(work, olds, news);
  } catch (error) {
    if (!work.hasChanged) throw error;
    throw new Incomplete((error as Error).message, group, { ...outputsIn(work, olds, news), ...hiddenMembers(news) });
  }
  return outputsIn(work, olds, news);
};

/** A group of this run holds what this run declares there. An organization has an owner from the beginning. */
const isEmpty = ({ ownership, places }: Session, set: string, group: string): boolean =>
  !isRoot(group) && ownership.originOf(group) === "created" && !places.isShared(group, set);

/**
 * Throws where the list shows nothing because the caller may not see the group's bindings: the set would create pairs that exist. A group
 * of this run is as empty as it looks.
 */
const requireListable = async (session: Session, name: string, group: string): Promise<void> => {
  if (session.ownership.originOf(group) === "created" || (await isListable(session, kind, group))) return;
  throw new Error(
    `RoleBindingSet ${name}: nothing is changed: the role bindings of group ${group} cannot be listed, so pairs that exist would be ` +
      "created a second time; grant the identity of this run role_bindings.list there",
  );
};

const pairsOf = async (session: Session, set: string, group: string, news: Json): Promise<Pair[]> => {
  const declared = pairsIn(news);
  const resolved = await withRoleUids(session, declared);
  const problems = pairsTwice(resolved).map(({ field, description }) => `${field}: ${description}`);
  if (problems.length > 0) throw new Error([`${set}: nothing is changed:`, ...problems].join("\n  - "));
  return resolved.map(({ identity, role }, i) => {
    const own = declared[i] as DeclaredPair;
    return { desired: desiredPair(set, group, identity, role), declared: own, text: declaredText(own) };
  });
};

const add = async (work: Work, set: string): Promise<void> => {
  const { session, group, pairs, managed } = work;
  const problems = new Map<string, string>();
  for (;;) {
    takeExisting(work, problems);
    const missing = pairs.filter(({ desired: { key } }) => !managed.has(key) && !problems.has(key));
    if (missing.length === 0) break;
    let isInterrupted = false;
    for (let at = 0; at < missing.length && !isInterrupted; at += BATCH_MAX)
      isInterrupted = await addSome(work, missing.slice(at, at + BATCH_MAX), problems);
    // Another run of this stack is creating some of the pairs.
    if (isInterrupted) {
      const live = withOthers(await listLive(session, group), work.live);
      work.live = [...(await settleInterrupted(session, set, group, live)).live];
    }
  }
  if (problems.size === 0) return;
  const count = problems.size === 1 ? "1 role binding was" : `${problems.size} role bindings were`;
  throw new Error([`RoleBindingSet ${work.name}: ${count} not created:`, ...problems.values()].join("\n  - "));
};

/** Creates the bindings of some pairs. Returns whether another run has left an entry for one of them. */
const addSome = async (work: Work, missing: readonly Pair[], problems: Map<string, string>): Promise<boolean> => {
  const existing = { records: work.live.map(({ record }) => record), isComplete: true };
  const asked = missing.map(({ desired }) => desired);
  const outcomes = await createAll(work.session, asked, existing);
  let fatal: Error | undefined;
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome === undefined) continue;
    const { desired, text } = missing[i] as Pair;
    if ("record" in outcome) {
      const one = liveFrom(outcome.record);
      work.live.push(one);
      work.own.add(one.uid);
      work.hasChanged = true;
    } else if (isRefusal(outcome.error)) problems.set(desired.key, `${text}: ${outcome.error.message}`);
    else fatal ??= outcome.error;
  }
  if (fatal) throw fatal;
  return outcomes.includes(undefined);
};

/** Finds the bindings of the pairs. One that the set did not manage is taken over, never doubled. */
const takeExisting = (work: Work, problems: Map<string, string>): void => {
  const { session, managed, own, shown } = work;
  const taken: Live[] = [];
  const byPair = Map.groupBy(work.live, ({ identity, role }) => `${identity.uid} ${role.uid}`);
  for (const { desired, text } of work.pairs) {
    const { key, args } = desired;
    if (managed.has(key)) continue;
    const found = byPair.get(`${args.identityUid} ${args.roleUid}`) ?? [];
    const idOf = ({ uid }: Live) => recordId(kind.field, uid);
    const free = found.filter((one) => session.ownership.adoptionRefusal(idOf(one), key) === undefined);
    const chosen =
      free.find(({ uid }) => own.has(uid) && !shown.has(uid)) ?? free.find(({ uid }) => own.has(uid)) ?? free[0];
    if (chosen) {
      managed.set(key, chosen);
      if (session.ownership.isOwnedBy(idOf(chosen), key)) continue;
      const isRecovered = work.recovered.has(chosen.uid);
      session.ownership.take(idOf(chosen), key, isRecovered ? "recovered" : "adopted");
      if (work.known.has(chosen.uid)) continue;
      taken.push(chosen);
      own.add(chosen.uid);
      work.hasChanged = true;
      continue;
    }
    const other = found.find((one) => !session.ownership.isLeaving(idOf(one)));
    if (other)
      problems.set(
        key,
        `${text}: role binding ${other.uid} ${session.ownership.adoptionRefusal(idOf(other), key)}; declare the pair once`,
      );
  }
  logTaken(work, taken);
};

const logTaken = ({ session, name, recovered }: Work, taken: readonly Live[]): void => {
  if (taken.length === 0) return;
  const head = `RoleBindingSet ${name}: takes over role bindings that exist:`;
  const lines = taken.map((one) => {
    const by = recovered.has(one.uid) ? ", created by an earlier run" : "";
    return `${bindingText(one)}: ${one.uid}${by}`;
  });
  session.log([head, ...lines].join("\n  - "));
};

const outputsIn = (work: Work, olds: Json, news: Json): Json => {
  const { group, pairs, managed, own } = work;
  const kept = keptIn(work, news);
  const chosen = pairs.flatMap(({ desired, declared }) => {
    const one = managed.get(desired.key);
    return one ? [{ one, declared }] : [];
  });
  const others = undeclaredIn(work);
  // One that could not be removed yet is still managed.
  const isManaged = ({ uid }: Live) => own.has(uid) && !kept.has(uid);
  return outputsOf(
    {
      group,
      managed: [...chosen.map(({ one }) => one), ...others.filter(isManaged)],
      unmanaged: others.filter((one) => !isManaged(one)),
      kept,
    },
    news,
    hiddenNames(chosen, olds),
  );
};
