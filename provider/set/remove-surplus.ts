// Removes what a set manages, or has recorded as exclusive, and the program does not declare.
import type { Json } from "../../schema/index.ts";
import { KEY } from "../record/state.ts";
import type { Live } from "./live.ts";
import { bindingText } from "./pair.ts";
import { requireIdentity } from "./protect.ts";
import { inOrder, logRemovals, removeBinding } from "./remove.ts";
import { settingsOf } from "./settings.ts";
import { keptIn, undeclaredIn, type Work } from "./work.ts";

/** Only what a preview has shown, with the identity and the role that it has shown. The next preview shows the rest. */
export const removeSurplus = async (work: Work, olds: Json, news: Json): Promise<void> => {
  const { session, name, own, plan } = work;
  const { exclusive } = settingsOf(news);
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
  const identity = exclusive ? await requireIdentity(session) : work.identity;
  const removals = inOrder(
    surplus.filter(({ uid }) => !kept.has(uid)),
    identity,
  );
  logRemovals(session, name, removals);
  for (const one of removals) {
    const isRemoved = await removeBinding(session, news[KEY], one, { createTime: olds.updateTime });
    own.delete(one.uid);
    if (isRemoved) work.live = work.live.filter(({ uid }) => uid !== one.uid);
    work.hasChanged = true;
  }
};

const isShown = ({ shown }: Work, { uid, identity, role }: Live): boolean => {
  const one = shown.get(uid);
  return one?.identity.uid === identity.uid && one.role.uid === role.uid;
};
