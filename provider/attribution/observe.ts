// A record of an open stack as it is now, in the form of its outputs in the state.
import type { Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { fingerprintOf, keepVolatile } from "../record/desired.ts";
import { placeOfRecord, recordId } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { choicesOf, SECRETS, secretPaths } from "../record/normal-form.ts";
import { KEY, outputsFrom, withPlace } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { note, type OpenStack } from "./stack.ts";

/** The outputs; undefined if the record is deleted. `stored` are those in the state. */
export const observeRecord = async (
  session: Session,
  { live, touched, isOfState }: OpenStack,
  kind: Kind,
  uid: string,
  stored: Json,
): Promise<Json | undefined> => {
  const record = await live.read(kind, uid, stored);
  if (!record) return undefined;
  const isTouched = touched.has(recordId(kind.field, uid));
  const hasSecret = secretPaths(kind).length > 0;
  // No response returns a secret. The record may have the secret of the killed run, so the update sends it again.
  const { [SECRETS]: _, ...readable } = stored;
  const observed = keepVolatile(kind, outputsFrom(kind, record, isTouched && hasSecret ? readable : stored), stored);
  const { [KEY]: key } = stored;
  const mayNote = isTouched && !isOfState && !hasSecret;
  if (mayNote && typeof key === "string" && isAlike(kind, uid, observed, stored))
    await note(session.journal.settle([{ kind: kind.field, uid }], key));
  return observed;
};

/** A refresh has read the record, and stores these outputs; undefined: it is deleted. */
export const noteRefreshed = async (
  session: Session,
  { touched, isOfState }: OpenStack,
  kind: Kind,
  uid: string,
  stored: Json,
  observed: Json | "same" | undefined,
): Promise<void> => {
  const { [KEY]: key } = stored;
  if (isOfState) return;
  // A secret cannot be read, so nothing is known about it.
  if (!touched.has(recordId(kind.field, uid)) || typeof key !== "string" || secretPaths(kind).length > 0) return;
  if (observed === "same") return note(session.journal.settle([{ kind: kind.field, uid }], key));
  const whole = observed && withPlace(kind, uid, observed);
  const given = whole && [...choicesOf(kind, whole)];
  const to = whole && given && { to: fingerprintOf(kind, placeOfRecord(kind, uid), whole, given), given };
  const write = { kind: kind.field, uid, key, ...to };
  await note(session.journal.beginWrite(write, session.serviceNow).then(() => session.journal.endWrite(write)));
};

/** Whether two sets of outputs describe the record alike. */
export const isAlike = (kind: Kind, uid: string, ...outputs: [Json, Json]): boolean => {
  const [first, second] = outputs.map((one) => {
    const whole = withPlace(kind, uid, one);
    return fingerprintOf(kind, placeOfRecord(kind, uid), whole, choicesOf(kind, whole));
  });
  return first === second;
};

/** Whether the group is certainly deleted. */
export const isGroupGone = async ({ live }: OpenStack, uid: string): Promise<boolean> => {
  try {
    return (await live.read(kindRecords.group, uid, {})) === undefined;
  } catch {
    // Nothing is known about it.
    return false;
  }
};
