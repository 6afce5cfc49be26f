// Removals of a set, one by one and after all additions, so that access is never interrupted.
import { type Json, parentOf } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { remove } from "../reconcile/delete.ts";
import { KEY } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { type Binding, bindingText, settingsOf } from "./pair.ts";
import { requireIdentity } from "./protect.ts";
import { keptIn, undeclaredIn, type Work } from "./work.ts";

/** Removes what a preview has shown, with the identity and the role that it has shown. The next preview shows the rest. */
export const removeSurplus = async (work: Work, olds: Json, news: Json): Promise<void> => {
  const { session, name, own, plan } = work;
  const kept = keptIn(work, news);
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

/** When the newest binding of the outputs was created: one that is not found may be as new. */
export const newest = ({ updateTime }: Json): Json => ({ createTime: updateTime });

/**
 * Removes bindings of a group, those of `identity` last: the run acts as it, and could not remove the others without them. All are logged
 * before the first: a killed run has named what it may have removed. A binding that is already gone is no error.
 */
export async function* removeEach(
  session: Session,
  name: string,
  bindings: readonly Binding[],
  identity: string | undefined,
  { [KEY]: key, createTime }: Json,
): AsyncGenerator<{ uid: string; isRemoved: boolean }, void, undefined> {
  const own = bindings.filter((one) => one.identity.uid === identity);
  const removals = [...bindings.filter((one) => !own.includes(one)), ...own];
  const [first] = removals;
  if (!first) return;
  const count = removals.length === 1 ? "1 role binding" : `${removals.length} role bindings`;
  const head = `RoleBindingSet ${name}: removing ${count} of group ${parentOf(first.uid)}; to restore one, add its pair to bindings:`;
  session.log([head, ...removals.map((one) => `  ${restorable(one)}`)].join("\n"));
  for (const { uid, identity, role } of removals) {
    const stored = { identity, role, createTime, [KEY]: key };
    yield { uid, isRemoved: await remove(kindRecords.roleBinding, session, uid, stored) };
  }
}

/** The pair in a form that can be pasted into the program again. */
const restorable = (one: Binding): string =>
  `{ identity: "${one.identity.uid}", role: "${one.role.uid}" }, // ${bindingText(one)}`;
