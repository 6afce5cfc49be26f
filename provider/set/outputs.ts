// The outputs of a set: the bindings that it manages, in the order of the program, and the others of the group. They are kept small: a
// state is rewritten at every step of the engine.
import { isRoot, type Json } from "../../schema/index.ts";
import { isRoleName } from "../kind/built-in-role.ts";
import { createTimeOf } from "../record/id.ts";
import { SECRET_NAME } from "../record/state.ts";
import type { Live } from "./live.ts";
import { type Binding, bindingsIn, type DeclaredPair, settingsOf } from "./pair.ts";

export interface Observed {
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
  const withReason = (one: Live): Binding => {
    const reason = kept.get(one.uid);
    return reason === undefined ? bindingFrom(one) : { ...bindingFrom(one), kept: reason };
  };
  const newest = managed.map(({ record }) => createTimeOf(record)).reduce((a, b) => (a > b ? a : b), "");
  return {
    parent: group,
    bindings: managed.map(bindingFrom),
    unmanaged: unmanaged.map(withReason).toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
    ...settingsOf(bag),
    ...(newest !== "" && { updateTime: newest }),
  };
};

const withoutHidden = ({ uid, name }: Binding["role"], isHidden: (uid: string) => boolean) =>
  name === undefined || isHidden(uid) ? { uid } : { uid, name };

/** Whether the name of a uid is secret: the program marks it, or says nothing of it and the state leaves it out. */
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

/** The inputs that describe the outputs, so that a refresh shows what was changed by hand. */
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
