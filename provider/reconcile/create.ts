// Create, without duplicates or lost records (docs/faults.md#nothing-lost). First it searches for what an earlier run left
// (provider/recovery/recover.ts), then it creates the record (provider/recovery/create-once.ts). From the moment that the record
// exists, every failure carries its uid.
import type { Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { placeOf, recordId } from "../kind/record.ts";
import { made } from "../recovery/create-once.ts";
import { leftBehind, namedBy } from "../recovery/recover.ts";
import { tellAbandoned } from "../recovery/unreported.ts";
import { Incomplete } from "../session/errors.ts";
import type { Session } from "../session/session.ts";
import { changeOf } from "../state/changes.ts";
import { fingerprint, givenChoices } from "../state/fingerprint.ts";
import { given, hidden, KEY, outputsFrom, parentIn, resolvedFrom } from "../state/state.ts";
import { withoutSecrets } from "../state/write-only.ts";
import { adoptedRecord } from "./adopt.ts";
import { incompleteUnlessShown } from "./shown-once.ts";
import { patched } from "./update.ts";

export interface Created {
  id: string;
  outs: Json;
}

export const create = async (kind: Kind, session: Session, bag: Json): Promise<Created> => {
  const inputs = await resolvedFrom(kind, session, bag);
  const desired = given(inputs);
  const key = inputs[KEY] as string;
  if (desired.adopt !== undefined) {
    const record = await adoptedRecord(kind, session, desired, key);
    await forget(kind, session, key, record);
    return settled(kind, session, inputs, record, { adopted: true });
  }
  return alone(session, fingerprint(kind, parentIn(desired), desired, givenChoices(kind, desired)), async () => {
    // Whoever else makes records of this stack may leave something before it is our turn.
    for (;;) {
      const left = await leftBehind(kind, session, key, desired);
      if (left) return incompleteUnlessShown(kind, key, inputs, await settled(kind, session, inputs, left));
      const answer = await made(kind, session, key, desired);
      if (answer) return incompleteUnlessShown(kind, key, inputs, asMade(kind, inputs, answer));
    }
  });
};

const asMade = (kind: Kind, inputs: Json, answer: Json): Created => ({
  id: answer.uid as string,
  outs: outputsFrom(kind, answer, given(inputs)),
});

// Resources that are alike are made one after the other: what is found for one must not be what another is just making.
const alone = async <T>(session: Session, inputs: string, work: () => Promise<T>): Promise<T> => {
  const last = session.making.get(inputs) ?? Promise.resolve();
  const next = last.then(work);
  session.making.set(
    inputs,
    next.catch(() => undefined),
  );
  return next;
};

// A record that is there already is taken, and made what the program asks for.
const settled = async (
  kind: Kind,
  session: Session,
  inputs: Json,
  record: Json,
  own: { adopted?: true } = {},
): Promise<Created> => {
  const desired = { ...given(inputs), ...own };
  const id = record.uid as string;
  const place = placeOf(kind, id);
  session.claims.take(recordId(kind.field, id), inputs[KEY] as string);
  if (!own.adopted && place === "") session.newRoots.add(id);
  // Which secret the record has is not known: it is sent again.
  const outs = outputsFrom(kind, record, withoutSecrets(kind, desired));
  try {
    const { paths, replaces } = changeOf(kind, place, outs, desired);
    if (replaces.length > 0) throw new Error(`${kind.word} ${id}: ${replaces.join(", ")} cannot be changed on it`);
    return { id, outs: paths.length === 0 ? outs : await patched(kind, session, id, paths, { ...inputs, ...own }) };
  } catch (error) {
    // It is this resource's from now on: the next run goes on from here.
    if (error instanceof Incomplete) throw error;
    throw new Incomplete((error as Error).message, id, { ...outs, ...hidden(inputs) });
  }
};

// Who says which record is meant has settled what earlier runs left open.
const forget = async (kind: Kind, session: Session, key: string, record: Json): Promise<void> => {
  const uid = record.uid as string;
  for (const entry of await session.journal.left(key)) {
    if (entry.uid === undefined) {
      if (entry.answered !== uid) await tellAbandoned(session, entry, uid);
    } else if (entry.uid !== uid) {
      const named = await namedBy(kind, session, entry);
      if (named?.is === "another") await session.journal.disown(entry, named.why);
      else if (named) session.say(`${key}: a run that did not end made ${entry.uid} for it, which is nobody's now`);
    }
    await session.journal.closed(entry);
  }
};
