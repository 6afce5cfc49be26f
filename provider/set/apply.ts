// Create and update of a set: additions first, then removals. Whatever was done is recorded, so that the next run continues from what
// is there.
import { BATCH_MAX, type Json } from "../../schema/index.ts";
import { builtInRoleUid, isRoleName } from "../kind/built-in-role.ts";
import { kindRecords } from "../kind/index.ts";
import { Incomplete } from "../reconcile/incomplete.ts";
import { recordId } from "../record/id.ts";
import { hidden, KEY } from "../record/state.ts";
import { createAll, isRefusal } from "../recovery/create.ts";
import type { Session } from "../run/session.ts";
import { type Live, listLive, liveFrom, requireListable, withKnown, withOthers } from "./live.ts";
import { hiddenNames, outputsOf } from "./outputs.ts";
import { bindingsIn, bindingText, declaredText, desiredPair, pairsIn } from "./pair.ts";
import { planOf, removalsOf, requireFewRemovals } from "./plan.ts";
import { removeSurplus } from "./remove-surplus.ts";
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
  const listed = await withKnown(session, known, olds.updateTime, await listLive(session, group));
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
    throw new Incomplete((error as Error).message, group, { ...outputsIn(work, olds, news), ...hidden(news) });
  }
  return outputsIn(work, olds, news);
};

const pairsOf = async (session: Session, set: string, group: string, news: Json): Promise<Pair[]> => {
  const first = new Map<string, number>();
  const pairs: Pair[] = [];
  const problems: string[] = [];
  for (const [i, declared] of pairsIn(news).entries()) {
    const { identity, role } = declared;
    const desired = desiredPair(set, group, identity, isRoleName(role) ? await builtInRoleUid(session, role) : role);
    const before = first.get(desired.key);
    if (before !== undefined) problems.push(`bindings[${i}]: the same identity and role as bindings[${before}]`);
    first.set(desired.key, i);
    pairs.push({ desired, declared, text: declaredText(declared) });
  }
  if (problems.length > 0) throw new Error([`${set}: nothing is changed:`, ...problems].join("\n  - "));
  return pairs;
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
    if ("record" in outcome) noteCreated(work, liveFrom(outcome.record));
    else if (isRefusal(outcome.error)) problems.set(desired.key, `${text}: ${outcome.error.message}`);
    else fatal ??= outcome.error;
  }
  if (fatal) throw fatal;
  return outcomes.includes(undefined);
};

const noteCreated = (work: Work, one: Live): void => {
  work.live.push(one);
  work.own.add(one.uid);
  work.hasChanged = true;
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
      unmanaged: others.filter((one) => !isManaged(one)).map((one) => ({ ...one, ...keptOf(kept.get(one.uid)) })),
    },
    news,
    hiddenNames(chosen, olds),
  );
};

const keptOf = (kept: string | undefined) => (kept === undefined ? {} : { kept });
