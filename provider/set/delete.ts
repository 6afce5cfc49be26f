// Delete of a set: its managed bindings, with those that interrupted runs have created for it. Those that it does not manage stay.
import type { Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { JournalError } from "../log/file.ts";
import { recordId } from "../record/id.ts";
import { KEY } from "../record/state.ts";
import { noteFailure } from "../recovery/create.ts";
import type { Session } from "../run/session.ts";
import { bindingsIn } from "./pair.ts";
import { newest, removeEach } from "./remove.ts";
import { type Settled, settleInterrupted } from "./settle.ts";

/** `stored` are the outputs in the state. */
export const deleteSet = async (session: Session, name: string, stored: Json): Promise<void> => {
  const managed = bindingsIn(stored, "bindings");
  const { live, recovered } = await recoveredFor(session, stored);
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

const NONE: Settled = { live: [], recovered: new Map() };

const recoveredFor = async (session: Session, { [KEY]: set, parent: group }: Json): Promise<Settled> => {
  // A state of an earlier version has no key.
  if (typeof set !== "string" || typeof group !== "string") return NONE;
  try {
    return await settleInterrupted(session, set, group, []);
  } catch (error) {
    // A delete does not need the journal.
    if (error instanceof JournalError) return NONE;
    throw error;
  }
};
