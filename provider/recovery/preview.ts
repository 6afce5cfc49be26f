// What a preview says of a new resource whose record an interrupted run has created: the update takes it over and creates nothing. A
// preview neither waits nor writes to the journal.
import { apiErrorOf, sessionErrorOf, withoutSection } from "../../client/errors.ts";
import { NOT_VISIBLE_YET, type TakenOver, takeoverText } from "../../client/preview-marks.ts";
import { containsUnknown, isUnknown } from "../../pulumi/value.ts";
import { isLoopbackUrl, type Json } from "../../schema/index.ts";
import { desiredFrom, withUids } from "../record/desired.ts";
import { createTimeOf, recordId } from "../record/id.ts";
import { type Kind, recordText, withArticle } from "../record/kind.ts";
import { shownOncePaths } from "../record/normal-form.ts";
import { KEY, nameInKey } from "../record/state.ts";
import { unlessJournalFails } from "../run/journal.ts";
import { type Session, withOneAttempt } from "../run/session.ts";
import { findInterrupted, hiddenMs, isReplaced, searchInterrupted } from "./interrupted.ts";
import { absentOrganization } from "./missing-organization.ts";
import { hiddenMsOf, isAsked, type RecoveryPolicy, recordOf, requireAsked } from "./recover.ts";

interface Shown {
  taken: TakenOver;
  /** for the log */
  text: string;
}

/**
 * Throws where the update would fail, because the record is not what the program asks for. `session` is absent without credentials.
 * Undefined where no interrupted run has left anything for the resource.
 */
export const previewRecovery = async (
  kind: Kind,
  { journal }: Pick<Session, "journal">,
  session: Session | undefined,
  inputs: Json,
): Promise<Shown | undefined> => {
  const asked = createdWith(inputs);
  if (!asked) return undefined;
  const { key, isKnown } = asked;
  // A journal that fails is reported by the update, which creates nothing.
  for (const entry of await unlessJournalFails([], () => journal.peekUnsettled(key))) {
    const at = new Date(entry.at).toISOString();
    const describe = (record: string, uid: string | undefined, doubt?: string): Shown =>
      shownFor(kind, key, record, { ...(uid !== undefined && { uid }), at, ...(doubt !== undefined && { doubt }) });
    const named = entry.uid ?? entry.answered;
    const unread = named === undefined ? withArticle(kind.word) : `${kind.word} ${named}`;
    if (session === undefined) return describe(unread, named, "a preview without credentials cannot read it");
    let record: Json | undefined;
    let desired = desiredFrom(kind, inputs);
    try {
      desired = await withUids(withOneAttempt(session), desired);
      record = await recordOf(withOneAttempt(session), entry, desired, PREVIEW_POLICY);
      if (record && session.ownership.creationRefusal(recordId(kind.field, record.uid as string), key)) continue;
      if (record && isKnown) {
        if (entry.run !== undefined && !kind.unique && !isAsked(desired, record)) continue;
        requireAsked(session, desired, record);
      }
      // The update deletes it and creates another one, here and below.
      if (record && shownOncePaths(kind).length > 0) continue;
    } catch (error) {
      const cause = serviceErrorIn(error);
      if (cause === undefined) throw error;
      // On the caller's own machine, a group that is new is in no organization that is gone.
      const isNewGroup = isUnknown(desired.parent) && isLoopbackUrl(session.service);
      const parent = isNewGroup ? "" : desired.parent;
      if (!isUnknown(parent) && (await absentOrganization(withOneAttempt(session), parent, entry, error))) continue;
      return describe(unread, named, `it cannot be read (${withoutSection(cause.message)})`);
    }
    if (record) {
      const doubt = isKnown ? undefined : "whether it is what the program asks for is known only to the run";
      return describe(recordText(kind, record), record.uid as string, doubt);
    }
    // Its request may still be under way.
    if (named === undefined && (await hiddenMsOf(session, entry)) > 0)
      return describe(unread, undefined, NOT_VISIBLE_YET);
  }
  return undefined;
};

const PREVIEW_POLICY: RecoveryPolicy = { hiddenMs: async () => 0, disown: async () => undefined };

/** The same of a create that only the engine's state has. */
export const previewInterrupted = async (kind: Kind, session: Session, inputs: Json): Promise<Shown | undefined> => {
  const asked = createdWith(inputs);
  if (!asked) return undefined;
  const { key, isKnown } = asked;
  const once = withOneAttempt(session);
  try {
    const desired = await withUids(once, desiredFrom(kind, inputs));
    const own = await findInterrupted(once, desired);
    const [last] = own.toSorted((a, b) => b.entry.at - a.entry.at);
    if (!last) return undefined;
    const record = await searchInterrupted(once, desired, own, async () => 0);
    if (record) {
      if (shownOncePaths(kind).length > 0 || (isKnown && isReplaced(desired, record))) return undefined;
      const taken = { uid: record.uid as string, at: createTimeOf(record) };
      return shownFor(kind, key, recordText(kind, record), taken);
    }
    const isHidden = (await Promise.all(own.map((one) => hiddenMs(once, one)))).some((ms) => ms > 0);
    const at = new Date(last.entry.at).toISOString();
    return isHidden ? shownFor(kind, key, withArticle(kind.word), { at, doubt: NOT_VISIBLE_YET }) : undefined;
  } catch (error) {
    if (serviceErrorIn(error)) return undefined;
    throw error;
  }
};

/** The resource that these inputs create, and whether a preview knows all of them. Undefined where it adopts a record. */
const createdWith = ({ [KEY]: key, adopt, names: _names, ...asked }: Json) =>
  typeof key === "string" && adopt === undefined ? { key, isKnown: !containsUnknown(asked) } : undefined;

const shownFor = (kind: Kind, key: string, record: string, taken: TakenOver): Shown => ({
  taken,
  text: takeoverText(`${kind.type} ${nameInKey(key)}`, record, taken),
});

const serviceErrorIn = (error: unknown): Error | undefined =>
  sessionErrorOf(error) ?? apiErrorOf(error) ?? apiErrorOf((error as Error).cause);
