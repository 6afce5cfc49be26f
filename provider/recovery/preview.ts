// The preview of a new resource whose record an interrupted run has created: the update adopts it and creates nothing. A preview neither
// waits nor writes to the journal.
import { apiErrorOf, sessionErrorOf, withoutSection } from "../../client/errors.ts";
import { NOT_VISIBLE_YET, type PlannedAdoption, plannedAdoptionText } from "../../client/preview-marks.ts";
import { containsUnknown, isUnknown } from "../../pulumi/value.ts";
import { isLoopbackUrl, type Json } from "../../schema/index.ts";
import { desiredFrom, withUids } from "../record/desired.ts";
import { createTimeOf } from "../record/id.ts";
import { type Kind, recordText, withArticle } from "../record/kind.ts";
import { KEY, nameInKey } from "../record/state.ts";
import { unlessJournalFails } from "../run/journal.ts";
import { type Session, withOneAttempt } from "../run/session.ts";
import { attribute, evidenceFor, hiddenMsOf, PREVIEW_POLICY, type Sent } from "./evidence.ts";
import { absentOrganization } from "./not-found.ts";
import { fateOf } from "./recover.ts";

interface Shown {
  taken: PlannedAdoption;
  /** for the log */
  text: string;
}

/**
 * Throws if the update would fail because the record differs from the desired one. `session` is absent without credentials. Undefined if no
 * interrupted run has left anything for the resource.
 */
export const previewRecovery = async (
  kind: Kind,
  { journal }: Pick<Session, "journal">,
  session: Session | undefined,
  inputs: Json,
): Promise<Shown | undefined> => {
  const { [KEY]: key, adopt, names: _names, ...asked } = inputs;
  if (typeof key !== "string" || adopt !== undefined) return undefined;
  const isKnown = !containsUnknown(asked);
  const once = session && withOneAttempt(session);
  const desired = async () => withUids(once as Session, desiredFrom(kind, inputs));
  // The update reports a journal that fails, and creates nothing.
  const evidence = await unlessJournalFails([], async (): Promise<Sent[][]> => {
    try {
      if (once) return await evidenceFor(once, key, desired, PREVIEW_POLICY);
      return (await journal.peekUnsettled(key)).map((entry) => [{ entry }]);
    } catch (error) {
      if (serviceErrorIn(error)) return [];
      throw error;
    }
  });
  for (const sent of evidence) {
    const [{ entry }] = sent as [Sent];
    const uid = entry.uid ?? entry.answered;
    const found: Found | undefined = once
      ? await findOne(kind, once, inputs, isKnown, sent)
      : { taken: { doubt: "a preview without credentials cannot read it" } };
    if (!found) continue;
    const unread = uid === undefined ? withArticle(kind.word) : `${kind.word} ${uid}`;
    const taken = { ...(uid !== undefined && { uid }), at: new Date(entry.at).toISOString(), ...found.taken };
    return { taken, text: plannedAdoptionText(`${kind.type} ${nameInKey(key)}`, found.record ?? unread, taken) };
  }
  return undefined;
};

interface Found {
  /** text for a person; absent: it was not read */
  record?: string;
  taken: Partial<PlannedAdoption>;
}

/** The record that the update adopts; undefined if it creates another one. */
const findOne = async (
  kind: Kind,
  session: Session,
  inputs: Json,
  isKnown: boolean,
  sent: readonly Sent[],
): Promise<Found | undefined> => {
  const [first] = sent as readonly [Sent];
  const { entry, operation } = first;
  let record: Json | undefined;
  let desired = desiredFrom(kind, inputs);
  try {
    desired = await withUids(session, desired);
    record = await attribute(session, sent, desired, PREVIEW_POLICY);
    if (record && fateOf(session, desired, first, record, isKnown) !== "adopted") return undefined;
  } catch (error) {
    const cause = serviceErrorIn(error);
    if (cause === undefined) throw error;
    if (operation) return undefined;
    // On the caller's machine, a new group is not in an organization that is gone.
    const isNewGroup = isUnknown(desired.parent) && isLoopbackUrl(session.service);
    const parent = isNewGroup ? "" : desired.parent;
    if (!isUnknown(parent) && (await absentOrganization(session, parent, entry, error))) return undefined;
    return { taken: { doubt: `it cannot be read (${withoutSection(cause.message)})` } };
  }
  if (!record) {
    // Its request may still be under way.
    const unnamed = sent.filter((one) => (one.entry.uid ?? one.entry.answered) === undefined);
    const hidden = await Promise.all(unnamed.map((one) => hiddenMsOf(session, one)));
    return hidden.some((ms) => ms > 0) ? { taken: { doubt: NOT_VISIBLE_YET } } : undefined;
  }
  const isSure = isKnown || operation !== undefined;
  return {
    record: recordText(kind, record),
    taken: {
      uid: record.uid as string,
      ...(operation && { at: createTimeOf(record) }),
      ...(!isSure && { doubt: "whether it is what the program asks for is known only to the run" }),
    },
  };
};

const serviceErrorIn = (error: unknown): Error | undefined =>
  sessionErrorOf(error) ?? apiErrorOf(error) ?? apiErrorOf((error as Error).cause);
