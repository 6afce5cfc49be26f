// What did a killed run create? The record that the response named, if it matches the request; otherwise the record that a search finds.
import { placeText } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { placeOfRecord, recordId } from "../record/id.ts";
import { type Kind, withArticle } from "../record/kind.ts";
import type { Session } from "../run/session.ts";
import { countAlike, type RecoveryPolicy, type Sent, searchOf, UPDATE_POLICY } from "./evidence.ts";
import { readWhenVisible } from "./not-found.ts";
import { isSince, type Judgement, judge, pickOne, searchForEntry, undecidedRecord } from "./search.ts";

/**
 * The record that the creates of one element of the evidence produced, if any. A record that an entry names counts only if it matches the
 * request. Throws if a person has to decide.
 */
export const attribute = async (
  session: Session,
  sent: readonly Sent[],
  desired: Desired,
  policy: RecoveryPolicy,
): Promise<Json | undefined> => {
  const { kind } = desired;
  const [{ entry }] = sent as readonly [Sent];
  const named = await judgeNamed(kind, session, entry, policy);
  if (named?.is === "own") return named.record;
  if (named?.is === "foreign") await policy.disown(session, entry, named.why);
  const found = await search(session, sent, desired, policy);
  if (found || named?.is !== "undecided") return found;
  throw undecidedRecord(kind, session, entry, named.record, named.why);
};

type Named = (Judgement & { record: Json }) | { is: "foreign"; why: string };

/** Whether an entry's create produced the record that it names; undefined if it names none, or a deleted one. */
export const judgeNamed = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  policy: RecoveryPolicy = UPDATE_POLICY,
): Promise<Named | undefined> => {
  const uid = entry.uid ?? entry.answered;
  if (uid === undefined) return undefined;
  if (entry.kind !== kind.field) return { is: "foreign", why: `is recorded as ${withArticle(entry.kind)}` };
  const refusal = session.ownership.creationRefusal(recordId(kind.field, uid), entry.key);
  if (refusal) return { is: "foreign", why: refusal };
  // Checked before the read, which may be denied in another group.
  if (placeOfRecord(kind, uid) !== entry.parent) return { is: "foreign", why: `is not ${placeText(entry.parent)}` };
  const waitMs = await policy.hiddenMs(session, { entry: { ...entry, uid } });
  const record = await readWhenVisible(kind, session, uid, waitMs);
  return record && { ...judge(kind, entry, record), record };
};

const search = async (
  session: Session,
  sent: readonly Sent[],
  desired: Desired,
  policy: RecoveryPolicy,
): Promise<Json | undefined> => {
  const found = new Map<unknown, Json>();
  let isSure = true;
  for (const one of sent) {
    const about = { ...searchOf(session, one, desired), waitMs: await policy.hiddenMs(session, one) };
    for (const record of await searchForEntry(desired.kind, session, one.entry, about)) {
      found.set(record.uid, record);
      isSure &&= isSince(one.entry, record);
    }
  }
  return pickOne(desired.kind, desired.key, [...found.values()], isSure, () => countAlike(session, sent));
};
