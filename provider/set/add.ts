// Additions of a set. A pair whose binding exists takes it over, the others are created.
import { quoting } from "../../client/errors.ts";
import { BATCH_MAX, type Json, pairsTwice } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { recordId } from "../record/id.ts";
import { createAll, isRefusal } from "../recovery/create.ts";
import type { Session } from "../run/session.ts";
import { type Live, listLive, liveFrom, withOthers } from "./live.ts";
import { bindingText, type DeclaredPair, declaredText, desiredPair, pairsIn, withRoleUids } from "./pair.ts";
import { recoverInterrupted } from "./recover.ts";
import type { Pair, Work } from "./work.ts";

export const declaredPairs = async (session: Session, set: string, group: string, news: Json): Promise<Pair[]> => {
  const declared = pairsIn(news);
  const resolved = await withRoleUids(session, declared);
  const problems = pairsTwice(resolved).map(({ field, description }) => `${field}: ${description}`);
  if (problems.length > 0) throw new Error([`${set}: nothing is changed:`, ...problems].join("\n  - "));
  return resolved.map(({ identity, role }, i) => {
    const pair = declared[i] as DeclaredPair;
    return { desired: desiredPair(set, group, identity, role), declared: pair, text: declaredText(pair) };
  });
};

export const addMissing = async (work: Work): Promise<void> => {
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
  throw new Error(quoting(problems, (lines) => [head, ...lines].join("\n  - ")));
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
  const head = `RoleBindingSet ${name}: takes over role bindings that exist:`;
  const lines = taken.map((one) => {
    const by = recovered.has(one.uid) ? ", created by an earlier run" : "";
    return `${bindingText(one)}: ${one.uid}${by}`;
  });
  session.log([head, ...lines].join("\n  - "));
};
