// Create and update of a set: additions first, then removals. Whatever was done is recorded, so that the next run continues from what
// is there.
import { isListable } from "../../client/records.ts";
import { BATCH_MAX, isRoot, type Json, pairsTwice } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { Incomplete } from "../reconcile/incomplete.ts";
import type { Desired } from "../record/desired.ts";
import { recordId } from "../record/id.ts";
import { hiddenMembers, KEY } from "../record/state.ts";
import { createAll, isRefusal } from "../recovery/create.ts";
import type { Session } from "../run/session.ts";
import { withRoleUids } from "./check.ts";
import { type Live, listLive, liveFrom, withOthers, withStored } from "./live.ts";
import { hiddenNames, outputsOf } from "./outputs.ts";
import {
  type Binding,
  bindingsIn,
  bindingText,
  type DeclaredPair,
  declaredText,
  desiredPair,
  pairsIn,
  settingsOf,
} from "./pair.ts";
import { type Plan, planOf, removalsOf, requireFewRemovals } from "./plan.ts";
import { keptBy, requireIdentity } from "./protect.ts";
import { newest, removeEach } from "./remove.ts";
import { settleInterrupted } from "./settle.ts";

const kind = kindRecords.roleBinding;

/** A declared pair by its uids. */
interface Pair {
  declared: DeclaredPair;
  desired: Desired;
  /** `"ci" as "viewer"` */
  text: string;
  /** its binding, once it is found or created */
  live?: Live;
  /** why it has none */
  problem?: string;
}

/** What a create or update of a set knows, and what it has done so far. */
interface Work {
  session: Session;
  name: string;
  set: string;
  group: string;
  /** the outputs so far */
  olds: Json;
  /** the inputs */
  news: Json;
  pairs: readonly Pair[];
  /** what the preview has shown */
  plan: Plan;
  /** by uid: its removals */
  shown: ReadonlyMap<string, Binding>;
  /** uid of the identity that the run acts as */
  identity: string | undefined;
  /** all bindings of the group, as far as this run knows */
  live: Live[];
  /** by uid: what interrupted runs have created, and the state lacks */
  recovered: ReadonlyMap<string, Entry>;
  /** uids of the bindings in the state */
  known: ReadonlySet<string>;
  /** the same, with those that this set has created or taken over */
  own: Set<string>;
  /** something was created, taken over or removed */
  hasChanged: boolean;
}

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
    ...{ session, name, set, group, olds, news, pairs, plan },
    shown: new Map(removalsOf(plan).map((one) => [one.uid, one])),
    identity: await session.identity(),
    live: [...settled.live],
    recovered: settled.recovered,
    known: new Set(known.map(({ uid }) => uid)),
    own: new Set([...known.map(({ uid }) => uid), ...settled.recovered.keys()]),
    hasChanged: false,
  };
  try {
    await add(work);
    await removeSurplus(work);
  } catch (error) {
    if (!work.hasChanged) throw error;
    throw new Incomplete((error as Error).message, group, { ...outputsIn(work), ...hiddenMembers(news) });
  }
  return outputsIn(work);
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

const add = async (work: Work): Promise<void> => {
  const { session, set, group, pairs } = work;
  for (;;) {
    takeExisting(work);
    const missing = pairs.filter(({ live, problem }) => !live && problem === undefined);
    if (missing.length === 0) break;
    let isInterrupted = false;
    for (let at = 0; at < missing.length && !isInterrupted; at += BATCH_MAX)
      isInterrupted = await addSome(work, missing.slice(at, at + BATCH_MAX));
    // Another run of this stack is creating some of the pairs.
    if (isInterrupted) {
      const live = withOthers(await listLive(session, group), work.live);
      work.live = [...(await settleInterrupted(session, set, group, live)).live];
    }
  }
  const problems = pairs.flatMap(({ problem }) => problem ?? []);
  if (problems.length === 0) return;
  const count = problems.length === 1 ? "1 role binding was" : `${problems.length} role bindings were`;
  throw new Error([`RoleBindingSet ${work.name}: ${count} not created:`, ...problems].join("\n  - "));
};

/** Creates the bindings of some pairs. Returns whether another run has left an entry for one of them. */
const addSome = async (work: Work, missing: readonly Pair[]): Promise<boolean> => {
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

/** Finds the bindings of the pairs. One that the set did not manage is taken over, never doubled. */
const takeExisting = (work: Work): void => {
  const { own, shown, known, recovered } = work;
  const { ownership } = work.session;
  const taken: Live[] = [];
  const byPair = Map.groupBy(work.live, ({ identity, role }) => `${identity.uid} ${role.uid}`);
  for (const pair of work.pairs) {
    if (pair.live) continue;
    const { key, args } = pair.desired;
    const found = byPair.get(`${args.identityUid} ${args.roleUid}`) ?? [];
    const idOf = ({ uid }: Live) => recordId(kind.field, uid);
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

/** Removes what a preview has shown, with the identity and the role that it has shown. The next preview shows the rest. */
const removeSurplus = async (work: Work): Promise<void> => {
  const { session, name, own, plan, olds, news } = work;
  const kept = keptIn(work);
  const undeclared = undeclaredIn(work);
  const surplus = undeclared.filter((one) => isShown(work, one));
  const others = undeclared.filter((one) => own.has(one.uid) || plan.kept.some(({ uid }) => uid === one.uid));
  for (const one of new Set([...surplus, ...others])) {
    const reason = kept.get(one.uid);
    const text = `RoleBindingSet ${name}: keeps ${bindingText(one)} (${one.uid})`;
    if (reason !== undefined) session.log(`${text} on purpose: ${reason}`);
    else if (!surplus.includes(one)) session.log(`${text} for now: the next preview shows its removal`);
  }
  if (surplus.length === 0) return;
  const identity = settingsOf(news).exclusive ? await requireIdentity(session) : work.identity;
  const doomed = surplus.filter(({ uid }) => !kept.has(uid));
  for await (const { uid, isRemoved } of removeEach(session, name, doomed, identity, { ...news, ...newest(olds) })) {
    own.delete(uid);
    if (isRemoved) work.live = work.live.filter((one) => one.uid !== uid);
    work.hasChanged = true;
  }
};

const isShown = ({ shown }: Work, { uid, identity, role }: Binding): boolean => {
  const one = shown.get(uid);
  return one?.identity.uid === identity.uid && one.role.uid === role.uid;
};

/** Of the group's bindings, those that no declared pair has. */
const undeclaredIn = ({ live, pairs }: Work): Live[] => {
  const chosen = new Set(pairs.map((pair) => pair.live?.uid));
  return live.filter(({ uid }) => !chosen.has(uid));
};

/** Why each of them must stay, by uid. */
const keptIn = (work: Work): ReadonlyMap<string, string> =>
  keptBy(work.news, work.group, work.live, undeclaredIn(work), work.identity);

const outputsIn = (work: Work): Json => {
  const { group, own, olds, news } = work;
  const kept = keptIn(work);
  const chosen = work.pairs.flatMap(({ live, declared }) => (live ? [{ one: live, declared }] : []));
  // One that could not be removed yet is still managed.
  const isManaged = ({ uid }: Live) => own.has(uid) && !kept.has(uid);
  const others = undeclaredIn(work);
  const managed = [...chosen.map(({ one }) => one), ...others.filter(isManaged)];
  const unmanaged = others.filter((one) => !isManaged(one));
  return outputsOf({ group, managed, unmanaged, kept }, news, hiddenNames(chosen, olds));
};
