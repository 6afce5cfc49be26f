// Create, without duplicates or lost records (docs/faults.md#nothing-lost): adopt what the program names, recover what an
// interrupted run left, or create it. Once a record exists, every failure carries its uid (`Incomplete`).
import type { Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { createOnce } from "../recovery/create-once.ts";
import { recoverCreate } from "../recovery/recover.ts";
import { perSession, type Session } from "../session/session.ts";
import { type Desired, desiredFrom, withUids } from "../state/desired.ts";
import { outputsFrom } from "../state/state.ts";
import { adopt, type Created, takeOver } from "./adopt.ts";
import { incompleteUnlessShown } from "./shown-once.ts";

/** `bag` holds the inputs. */
export const create = async (kind: Kind, session: Session, bag: Json): Promise<Created> => {
  const desired = await withUids(session, desiredFrom(kind, bag));
  if (desired.args.adopt !== undefined) return adopt(session, desired);
  return inTurn(session, desired.fingerprint, async () => {
    // Another process may leave something of this resource before it is our turn.
    for (;;) {
      const recovered = await recoverCreate(session, desired);
      if (recovered) return incompleteUnlessShown(desired, await takeOver(session, desired, recovered, "recovered"));
      const created = await createOnce(session, desired);
      if (created) return incompleteUnlessShown(desired, asCreated(desired, created));
    }
  });
};

const asCreated = ({ kind, args }: Desired, record: Json): Created => ({
  id: record.uid as string,
  outs: outputsFrom(kind, record, args),
});

const creating = perSession(() => new Map<string, Promise<unknown>>());

// Equal records are created one after the other: a search for one must not find what another create is producing.
const inTurn = async <T>(session: Session, fingerprint: string, work: () => Promise<T>): Promise<T> => {
  const turns = creating(session);
  const turn = (turns.get(fingerprint) ?? Promise.resolve()).then(work);
  turns.set(
    fingerprint,
    turn.catch(() => undefined),
  );
  return turn;
};
