// Adopts an existing record and updates it to what the program asks for: one that the program names, or one that an interrupted
// run created.
import { isUidp, type Json } from "../../schema/index.ts";
import { placeOf, recordId } from "../kind/record.ts";
import { settleByAdoption } from "../recovery/recover.ts";
import { Incomplete } from "../session/errors.ts";
import type { Origin } from "../session/ownership.ts";
import type { Session } from "../session/session.ts";
import { changeOf } from "../state/changes.ts";
import { type Desired, withArgs } from "../state/desired.ts";
import { outputsFrom } from "../state/state.ts";
import { withoutSecrets } from "../state/write-only.ts";
import { readWhenVisible } from "./not-found.ts";
import { sendUpdate } from "./update.ts";

export interface Created {
  id: string;
  outs: Json;
}

/** The program looked the record up (provider/program/adoption.ts); it is read once more before the adoption. */
export const adopt = async (session: Session, desired: Desired): Promise<Created> => {
  const { kind, key, parent, args } = desired;
  const uid = args.adopt;
  if (!isUidp(uid)) throw new Error(`${key}: adopt: "${uid}" was not looked up by the program`);
  const head = `${key}: adopt: ${kind.word} ${uid}`;
  const refusal = session.ownership.adoptionRefusal(recordId(kind.field, uid), key);
  if (refusal) throw new Error(`${head} ${refusal}`);
  const place = placeOf(kind, uid);
  if (place !== parent) throw new Error(`${head} is in ${place || "no group"}, not in ${parent || "none"}`);
  const record = await readWhenVisible(kind, session, uid, 0);
  if (!record) throw new Error(`${head} does not exist; leave adopt out to create a new one`);
  await settleByAdoption(kind, session, key, record);
  return takeOver(session, withArgs(desired, { ...args, adopted: true }), record, "adopted");
};

export const takeOver = async (session: Session, desired: Desired, record: Json, origin: Origin): Promise<Created> => {
  const { kind, key, args } = desired;
  const id = record.uid as string;
  session.ownership.take(recordId(kind.field, id), key, origin);
  // The secrets of the record cannot be read, so they are sent again.
  const outs = outputsFrom(kind, record, withoutSecrets(kind, args));
  try {
    const { paths, replaces } = changeOf(desired, placeOf(kind, id), outs);
    if (replaces.length > 0) throw new Error(`${kind.word} ${id}: ${replaces.join(", ")} cannot be changed on it`);
    return { id, outs: paths.length === 0 ? outs : await sendUpdate(session, desired, id, paths) };
  } catch (error) {
    // The resource owns it from now on: the next run continues from here.
    if (error instanceof Incomplete) throw error;
    throw new Incomplete((error as Error).message, id, { ...outs, ...desired.hidden });
  }
};
