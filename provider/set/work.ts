// The knowledge and progress of a create or update of a set, and the resulting outputs.
import { isRoot, type Json } from "../../schema/index.ts";
import { isRoleName } from "../kind/names.ts";
import { type Binding, bindingsIn, type DeclaredPair, settingsOf } from "../kind/pair.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { createTimeOf } from "../record/id.ts";
import { SECRET_NAME } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { keptBy, type Live } from "./live.ts";
import type { Plan } from "./plan.ts";

/** A declared pair by its uids. */
export interface Pair {
  declared: DeclaredPair;
  desired: Desired;
  /** `"ci" as "viewer"` */
  text: string;
  /** its binding, once it is found or created */
  live?: Live;
  /** why it has none */
  problem?: string;
}

/** The knowledge and progress of a create or update of a set. */
export interface Work {
  session: Session;
  name: string;
  set: string;
  group: string;
  /** the outputs so far */
  olds: Json;
  /** the inputs */
  news: Json;
  pairs: readonly Pair[];
  /** the plan that the preview has shown */
  plan: Plan;
  /** by uid: its removals */
  shown: ReadonlyMap<string, Binding>;
  /** uid of the identity that the run acts as */
  identity: string | undefined;
  /** all bindings of the group, as far as this run knows */
  live: Live[];
  /** by uid: creates of interrupted runs whose bindings the state lacks */
  recovered: ReadonlyMap<string, Entry>;
  /** uids of the bindings in the state */
  known: ReadonlySet<string>;
  /** uids of the bindings in the state, and of those that this set has created or adopted */
  own: Set<string>;
  /** a binding was created, adopted or removed */
  hasChanged: boolean;
}

/** The bindings of the group that no declared pair has. */
export const undeclaredBindings = ({ live, pairs }: Work): Live[] => {
  const chosen = new Set(pairs.map((pair) => pair.live?.uid));
  return live.filter(({ uid }) => !chosen.has(uid));
};

/** Why each of these must stay, by uid. */
export const keptReasons = (work: Work): ReadonlyMap<string, string> =>
  keptBy(work.news, work.group, work.live, undeclaredBindings(work), work.identity);

export const outputsOfWork = (work: Work): Json => {
  const { group, own, olds, news } = work;
  const kept = keptReasons(work);
  const chosen = work.pairs.flatMap(({ live, declared }) => (live ? [{ one: live, declared }] : []));
  // A binding that could not be removed yet is still managed.
  const isManaged = ({ uid }: Live) => own.has(uid) && !kept.has(uid);
  const others = undeclaredBindings(work);
  const managed = [...chosen.map(({ one }) => one), ...others.filter(isManaged)];
  const unmanaged = others.filter((one) => !isManaged(one));
  return outputsOf({ group, managed, unmanaged, kept }, news, hiddenNames(chosen, olds));
};

// The outputs of a set: the bindings that it manages, in the order of the program, and the others of the group. They are kept small: a
// state is rewritten at every step of the engine.

interface Observed {
  group: string;
  managed: readonly Live[];
  unmanaged: readonly Live[];
  /** why some of them must stay, by uid */
  kept: ReadonlyMap<string, string>;
}

/** `bag` holds the inputs, or the outputs so far. */
export const outputsOf = (
  { group, managed, unmanaged, kept }: Observed,
  bag: Json,
  isHidden: (uid: string) => boolean,
): Json => {
  const bindingFrom = ({ uid, identity, role }: Live): Binding => ({
    uid,
    identity: withoutHidden(identity, isHidden),
    role: withoutHidden(role, (uid) => !isRoot(uid) && isHidden(uid)),
  });
  const newest = managed.map(({ record }) => createTimeOf(record)).reduce((a, b) => (a > b ? a : b), "");
  return {
    parent: group,
    bindings: managed.map(bindingFrom),
    unmanaged: unmanaged
      .map((one): Binding => {
        const reason = kept.get(one.uid);
        return reason === undefined ? bindingFrom(one) : { ...bindingFrom(one), kept: reason };
      })
      .toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
    ...settingsOf(bag),
    ...(newest !== "" && { updateTime: newest }),
  };
};

const withoutHidden = ({ uid, name }: Binding["role"], isHidden: (uid: string) => boolean) =>
  name === undefined || isHidden(uid) ? { uid } : { uid, name };

/** Whether the name of a uid is secret: the program marks it as secret, or does not name it and the state omits it. */
export const hiddenNames = (
  declared: readonly { one: Binding; declared: DeclaredPair }[],
  outputs: Json,
): ((uid: string) => boolean) => {
  const byProgram = new Map(
    declared.flatMap(({ one, declared: { names } }) => [
      [one.identity.uid, names.identity === SECRET_NAME] as const,
      [one.role.uid, names.role === SECRET_NAME] as const,
    ]),
  );
  const byState = new Set(
    [...bindingsIn(outputs, "bindings"), ...bindingsIn(outputs, "unmanaged")]
      .flatMap(({ identity, role }) => [identity, role])
      .flatMap(({ uid, name }) => (name === undefined ? [uid] : [])),
  );
  return (uid) => byProgram.get(uid) ?? byState.has(uid);
};

/** The inputs that describe the outputs, so that a refresh shows manual changes. */
export const inputsOf = (outputs: Json): Json => {
  const managed = bindingsIn(outputs, "bindings");
  const { exclusive, maxRemovals } = settingsOf(outputs);
  return {
    parent: outputs.parent,
    bindings: managed.map(({ identity, role }) => ({
      identity: identity.uid,
      role: isRoot(role.uid) && isRoleName(role.name) ? role.name : role.uid,
    })),
    names: managed.map(({ identity, role }) => ({
      identity: identity.name ?? SECRET_NAME,
      role: role.name ?? SECRET_NAME,
    })),
    ...(exclusive && { exclusive }),
    ...(maxRemovals !== settingsOf({}).maxRemovals && { maxRemovals }),
  };
};
