// The pairs of a set that a killed run was creating, as the engine's state has them: those of the interrupted create or update that the
// stored set does not have.
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { entryOf, type Interrupted } from "../recovery/interrupted.ts";
import { type Operation, settleOperations, stackOperations } from "../recovery/operations.ts";
import type { Session } from "../run/session.ts";
import { withRoleUids } from "./check.ts";
import { bindingsIn, desiredPair, grants, pairsIn } from "./pair.ts";

const isOfSet = ({ type, action }: Operation): boolean => typeOfToken(type) === SET_TYPE && action !== "deleting";

/** Of all sets of the stack of a resource. */
export const interruptedPairs = async (session: Session, key: string): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, key);
  return (await Promise.all(open.filter(isOfSet).map((one) => pairsOf(session, one)))).flat();
};

/** Of this set, in this group. */
export const interruptedPairsOf = async (session: Session, set: string, group: string): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, set);
  const own = open.filter(
    (one) => isOfSet(one) && one.key === set && one.inputs.parent === group && one.updatesSince === 0,
  );
  return (await Promise.all(own.map((one) => pairsOf(session, one)))).flat();
};

/** This run knows what there is of them in this group. */
export const settlePairs = (session: Session, set: string, group: string): Promise<void> =>
  settleOperations(session, set, (one) => isOfSet(one) && one.key === set && one.inputs.parent === group);

const pairsOf = async (
  session: Session,
  { key, urn, inputs, stored = {}, stamp, sentBefore, updatesSince, isKept }: Operation,
): Promise<Interrupted[]> => {
  // Of a set that moves, the state has the pairs of the group that it leaves.
  const managed = stored.parent === inputs.parent ? bindingsIn(stored, "bindings") : [];
  const added = pairsIn(inputs).filter((pair) => !managed.some((one) => grants(one, pair)));
  const resolved = await withRoleUids(session, added);
  return resolved.map(({ identity, role }) => {
    const desired = desiredPair(key, inputs.parent as string, identity, role);
    return {
      key,
      urn,
      desired,
      entry: entryOf(desired, `${urn} ${desired.key}`, stamp.at),
      sentBefore,
      updatesSince,
      isKept,
    };
  });
};
