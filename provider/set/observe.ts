// A set of an open stack as its group is now: its plan is made of that, and not of what the engine has stored.
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import { KEY } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { type Binding, bindingsIn, isPairKeyOf } from "./pair.ts";
import { readSet } from "./read.ts";

/**
 * The outputs, or undefined where the group does not exist. `stored` are the outputs in the state, `created` the creates of open runs: what
 * they produced for this set, it manages.
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
const named = (bindings: readonly Binding[], part: "identity" | "role", uid: string): Binding["role"] =>
  bindings.map((one) => one[part]).find((one) => one.uid === uid) ?? { uid };
