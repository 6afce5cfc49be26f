// What a preview says of a new resource whose record an interrupted run has created: the update takes it over and creates nothing. A
// preview neither waits nor writes to the journal.
import { apiErrorOf, sessionErrorOf } from "../../client/errors.ts";
import { NOT_VISIBLE_YET, type TakenOver, takeoverText } from "../../client/preview-marks.ts";
import { withoutSection } from "../../client/recovery.ts";
import { isLoopbackUrl, type Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import { JournalError } from "../log/file.ts";
import { desiredFrom, withUids } from "../record/desired.ts";
import { recordId } from "../record/id.ts";
import { type Kind, title, withArticle } from "../record/kind.ts";
import { containsUnknown, isUnknown } from "../record/normal-form.ts";
import { KEY, nameInKey } from "../record/state.ts";
import { type Session, withOneAttempt } from "../run/session.ts";
import { absentOrganization } from "./gone.ts";
import { hiddenMsOf, isAsked, recordOf, requireAsked, type Waits } from "./recover.ts";

export interface Shown {
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
  const { [KEY]: key, adopt, names: _names, ...asked } = inputs;
  if (typeof key !== "string" || adopt !== undefined) return undefined;
  for (const entry of await findUnsettled(journal, key)) {
    const at = new Date(entry.at).toISOString();
    const describe = (record: string, uid: string | undefined, doubt?: string): Shown => {
      const taken = { ...(uid !== undefined && { uid }), at, ...(doubt !== undefined && { doubt }) };
      return { taken, text: takeoverText(`${kind.type} ${nameInKey(key)}`, record, taken) };
    };
    const named = entry.uid ?? entry.answered;
    const unread = named === undefined ? withArticle(kind.word) : `${kind.word} ${named}`;
    if (session === undefined) return describe(unread, named, "a preview without credentials cannot read it");
    let record: Json | undefined;
    let desired = desiredFrom(kind, inputs);
    try {
      desired = await withUids(withOneAttempt(session), desired);
      record = await recordOf(withOneAttempt(session), entry, desired, LOOKS);
      if (record && session.ownership.creationRefusal(recordId(kind.field, record.uid as string), key)) continue;
      if (record && !containsUnknown(asked)) {
        if (entry.run !== undefined && !kind.unique && !isAsked(desired, record)) continue;
        requireAsked(session, desired, record);
      }
    } catch (error) {
      const cause = sessionErrorOf(error) ?? apiErrorOf(error) ?? apiErrorOf((error as Error).cause);
      if (cause === undefined) throw error;
      // On the caller's own machine, a group that is new is in no organization that is gone.
      const isNewGroup = isUnknown(desired.parent) && isLoopbackUrl(session.service);
      const parent = isNewGroup ? "" : desired.parent;
      if (!isUnknown(parent) && (await absentOrganization(withOneAttempt(session), parent, entry, error))) continue;
      return describe(unread, named, `it cannot be read (${withoutSection(cause.message)})`);
    }
    if (record) {
      const doubt = containsUnknown(asked)
        ? "whether it is what the program asks for is known only to the run"
        : undefined;
      return describe(`${kind.word} ${record.uid} ${title(record)}`.trimEnd(), record.uid as string, doubt);
    }
    // Its request may still be under way.
    if (named === undefined && (await hiddenMsOf(session, entry)) > 0)
      return describe(unread, undefined, NOT_VISIBLE_YET);
  }
  return undefined;
};

const findUnsettled = async (journal: Session["journal"], key: string): Promise<Entry[]> => {
  try {
    return await journal.peekUnsettled(key);
  } catch (error) {
    // The update reports it, and creates nothing.
    if (error instanceof JournalError) return [];
    throw error;
  }
};

const LOOKS: Waits = { hiddenMs: async () => 0, disown: async () => undefined };
