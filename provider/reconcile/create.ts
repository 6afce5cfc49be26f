// Create, without duplicates or lost records (docs/internals/faults.md#nothing-lost): adopt the record that the program names, recover one that
// an interrupted run created, or create it. Once a record exists, every failure carries its uid (`Incomplete`).
import { placeText } from "../../client/records.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { changeOf, type Desired, desiredFrom, fixedText, withArgs, withUids } from "../record/desired.ts";
import { placeOfRecord, recordId } from "../record/id.ts";
import { type Kind, title } from "../record/kind.ts";
import { shownOncePaths, withoutSecrets } from "../record/normal-form.ts";
import { KEY, outputsFrom } from "../record/state.ts";
import { createInBatch } from "../recovery/batch.ts";
import { createAll } from "../recovery/create.ts";
import { readWhenVisible } from "../recovery/not-found.ts";
import { recoverCreate, settleByAdoption } from "../recovery/recover.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import type { Origin } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { remove } from "./delete.ts";
import { Incomplete, requireShownOnce } from "./incomplete.ts";
import { sendUpdate } from "./update.ts";

export interface Created {
  id: string;
  outs: Json;
}

/** `bag` holds the inputs. */
export const create = async (kind: Kind, session: Session, bag: Json): Promise<Created> => {
  const asked = desiredFrom(kind, bag);
  const desired = kind.resolve ? await withUids(session, asked) : asked;
  if (desired.args.adopt !== undefined) return adopt(session, desired);
  return session.turns.take(desired.fingerprint, async () => {
    let replaced: Json | undefined;
    for (;;) {
      // The record comes from an earlier run, or meanwhile from another process.
      const recovered = await recoverCreate(session, desired);
      if (recovered && !recovered.isReplaced) return adoptRecord(session, desired, recovered.record, "recovered");
      replaced ??= recovered?.record;
      const [outcome] = kind.batchCreate
        ? [await createInBatch(session, desired)]
        : await createAll(session, [desired]);
      if (!outcome) continue;
      if ("error" in outcome) throw outcome.error;
      const outs = outputsFrom(kind, outcome.record, desired.args);
      const created = { id: outcome.record.uid as string, outs };
      if (replaced) await removeReplaced(session, desired, replaced);
      return shownOncePaths(kind).length === 0 ? created : requireShownOnce(desired, created);
    }
  });
};

/** Deletes the record, as the engine does after a replacement. Nothing refers to it yet: the killed run did not learn its uid. */
const removeReplaced = async (session: Session, { kind, key }: Desired, record: Json): Promise<void> => {
  const uid = record.uid as string;
  const head = `${key}: an earlier run created ${kind.word} ${uid} ${title(record)} for it, and the program now asks for another one`;
  try {
    await remove(kind, session, uid, { ...record, [KEY]: key });
    session.log(`${head}: it is deleted`);
  } catch (error) {
    session.log(`${head}. It could not be deleted, and no resource manages it: ${(error as Error).message}`);
  }
};

// The program looked the record up (provider/program/adoption.ts). The adoption reads it once more.
const adopt = async (session: Session, desired: Desired): Promise<Created> => {
  const { kind, key, parent, args } = desired;
  const uid = args.adopt;
  if (!isUidp(uid)) throw new Error(`${key}: adopt: "${uid}" was not looked up by the program`);
  const head = `${key}: adopt: ${kind.word} ${uid}`;
  const refusal = session.ownership.adoptionRefusal(recordId(kind.field, uid), key);
  if (refusal) throw new Error(`${head} ${refusal}`);
  const place = placeOfRecord(kind, uid);
  if (place !== parent) throw new Error(`${head} is ${placeText(place)}, not ${placeText(parent)}`);
  const record = await readWhenVisible(kind, session, uid, 0);
  if (!record) throw new Error(`${head} does not exist; leave adopt out to create a new one`);
  await withRecoveryWait(session, key, (patient) => settleByAdoption(kind, patient, key, record));
  return adoptRecord(session, withArgs(desired, { ...args, adopted: true }), record, "adopted");
};

// Takes ownership of an existing record, and updates it to match the program.
const adoptRecord = async (session: Session, desired: Desired, record: Json, origin: Origin): Promise<Created> => {
  const { kind, key, args } = desired;
  const id = record.uid as string;
  session.ownership.take(recordId(kind.field, id), key, origin);
  // The secrets of the record cannot be read, so they are sent again.
  const outs = outputsFrom(kind, record, withoutSecrets(kind, args));
  try {
    const { paths, replaces } = changeOf(desired, placeOfRecord(kind, id), outs);
    if (replaces.length > 0) throw new Error(`${kind.word} ${id}: ${fixedText(replaces)}`);
    return { id, outs: paths.length === 0 ? outs : await sendUpdate(session, desired, id, paths) };
  } catch (error) {
    // The resource owns the record from now on: the next run continues from here.
    if (error instanceof Incomplete) throw error;
    throw new Incomplete((error as Error).message, id, { ...outs, ...desired.hidden });
  }
};
