// Creates that a killed run left open, as the engine's state has them: on a machine without the journal of that run, only the state says
// what was sent.
import { kindOfToken } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { type Desired, desiredFrom, withUids } from "../record/desired.ts";
import { KEY } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { type Operation, stackOperations } from "./operations.ts";

/** A create of an earlier run. */
export interface Interrupted extends Pick<Operation, "sentBefore" | "updatesSince" | "isKept" | "urn"> {
  key: string;
  /** what was sent */
  desired: Desired;
  /** as the journal of that run had it */
  entry: Entry;
}

/** Those of records in the stack of a resource that this run has not settled. */
export const interruptedCreates = async (session: Session, key: string): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, key);
  // An adoption creates nothing.
  const creates = open.filter(
    ({ action, type, inputs }) => action === "creating" && kindOfToken(type) && !inputs.adopt,
  );
  const byKey = Map.groupBy(creates, (one) => one.key);
  return Promise.all(creates.map((one) => interruptedFrom(session, one, byKey.get(one.key) ?? [])));
};

/** `own`: those of the same resource. A later run may have taken over what an earlier one created. */
const interruptedFrom = async (
  session: Session,
  { key, urn, type, inputs, stamp, sentBefore, updatesSince, isKept }: Operation,
  own: readonly Operation[],
): Promise<Interrupted> => {
  const kind = kindOfToken(type) as NonNullable<ReturnType<typeof kindOfToken>>;
  const desired = await withUids(session, desiredFrom(kind, { ...inputs, [KEY]: key }));
  const notBefore = Math.min(...own.map((one) => one.stamp.at));
  return {
    key,
    urn,
    desired,
    entry: entryOf(desired, `${urn} ${stamp.at}`, stamp.at, notBefore),
    sentBefore,
    updatesSince,
    isKept,
  };
};

export const entryOf = (desired: Desired, id: string, at: number, notBefore = at): Entry => {
  const { kind, key, parent, fingerprint, choices } = desired;
  return {
    ...{ intent: id, key, kind: kind.field, parent, inputs: fingerprint, given: [...choices] },
    ...{ at, notBefore },
  };
};
