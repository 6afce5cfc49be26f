// Removals of a set, one by one: surplus bindings after all additions, so that access is never interrupted, or the whole set. Bindings that
// it does not manage are kept.
import { type Json, parentOf } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { type Binding, bindingsIn, bindingText, settingsOf } from "../kind/pair.ts";
import { remove } from "../reconcile/delete.ts";
import { recordId } from "../record/id.ts";
import { KEY } from "../record/state.ts";
import { noteFailure } from "../recovery/create.ts";
import { unlessJournalFails } from "../run/journal.ts";
import type { Session } from "../run/session.ts";
import { type Recovery, recoverInterrupted, requireIdentity } from "./live.ts";
import { keptReasons, undeclaredBindings, type Work } from "./work.ts";

/** Removes the bindings that a preview has shown, if identity and role are still the same. The next preview shows the rest. */
export const removeSurplus = async (work: Work): Promise<void> => {
  const { session, name, own, plan, olds, news, shown } = work;
  const kept = keptReasons(work);
  const undeclared = undeclaredBindings(work);
  const surplus = undeclared.filter(({ uid, identity, role }) => {
    const one = shown.get(uid);
    return one?.identity.uid === identity.uid && one.role.uid === role.uid;
  });
  const others = undeclared.filter((one) => own.has(one.uid) || plan.kept.some(({ uid }) => uid === one.uid));
  for (const one of new Set([...surplus, ...others])) {
    const reason = kept.get(one.uid);
    const text = `RoleBindingSet ${name}: keeps ${bindingText(one)} (${one.uid})`;
    if (reason !== undefined) session.log(`${text} on purpose: ${reason}`);
    else if (!surplus.includes(one)) session.log(`${text} for now: the next preview shows its removal`);
  }
  if (surplus.length === 0) return;
  const identity = settingsOf(news).exclusive ? await requireIdentity(session) : work.identity;
  const removals = surplus.filter(({ uid }) => !kept.has(uid));
  for await (const { uid, isRemoved } of removeEach(session, name, removals, identity, { ...news, ...newest(olds) })) {
    own.delete(uid);
    if (isRemoved) work.live = work.live.filter((one) => one.uid !== uid);
    const entry = isRemoved ? work.recovered.get(uid) : undefined;
    if (entry) await noteFailure(session, entry);
    work.hasChanged = true;
  }
};

/** Deletes a set: its managed bindings, with those that interrupted runs have created for it. `stored` are the outputs in the state. */
export const deleteSet = async (session: Session, name: string, stored: Json): Promise<void> => {
  const managed = bindingsIn(stored, "bindings");
  const { [KEY]: set, parent: group } = stored as { [KEY]: string; parent: string };
  const { live, recovered } = await unlessJournalFails(NONE, () => recoverInterrupted(session, set, group, []));
  const lacking = live.filter(({ uid }) => {
    const entry = recovered.get(uid);
    const id = recordId(kindRecords.roleBinding.field, uid);
    const isOwn = entry && session.ownership.creationRefusal(id, entry.key) === undefined;
    return isOwn && !managed.some((one) => one.uid === uid);
  });
  const about = { ...stored, ...newest(stored) };
  const removals = removeEach(session, name, [...managed, ...lacking], await session.identity(), about);
  for await (const { uid, isRemoved } of removals) {
    const entry = recovered.get(uid);
    if (isRemoved && entry) await noteFailure(session, entry);
  }
};

const NONE: Recovery = { live: [], recovered: new Map(), named: [] };

/** When the newest binding of the outputs was created: a binding that is not found may be equally new. */
const newest = ({ updateTime }: Json): Json => ({ createTime: updateTime });

/**
 * Removes bindings of a group, the bindings of `identity` last: the run acts as it, and could not remove the others without them. Logs all
 * before the first removal, so that a killed run has named every binding that it may have removed. A binding that is already deleted is not
 * an error.
 */
async function* removeEach(
  session: Session,
  name: string,
  bindings: readonly Binding[],
  identity: string | undefined,
  { [KEY]: key, createTime }: Json,
): AsyncGenerator<{ uid: string; isRemoved: boolean }, void, undefined> {
  const ofIdentity = bindings.filter((one) => one.identity.uid === identity);
  const removals = [...bindings.filter((one) => !ofIdentity.includes(one)), ...ofIdentity];
  const [first] = removals;
  if (!first) return;
  const count = removals.length === 1 ? "1 role binding" : `${removals.length} role bindings`;
  const head = `RoleBindingSet ${name}: removing ${count} of group ${parentOf(first.uid)}; to restore one, add its pair to bindings:`;
  // Each in a form that can be pasted into the program again.
  const lines = removals.map(
    (one) => `  { identity: "${one.identity.uid}", role: "${one.role.uid}" }, // ${bindingText(one)}`,
  );
  session.log([head, ...lines].join("\n"));
  for (const { uid, identity, role } of removals) {
    const stored = { identity, role, createTime, [KEY]: key };
    yield { uid, isRemoved: await remove(kindRecords.roleBinding, session, uid, stored) };
  }
}
