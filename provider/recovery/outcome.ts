// Records the outcome of a create in the journal. The engine must receive the result that the service returned, so a full disk is now a
// warning, not an error.
import type { Entry } from "../log/entry.ts";
import type { Created } from "../run/journal.ts";
import type { Session } from "../run/session.ts";

const orWarn = (session: Session, key: string, written: Promise<void>): Promise<void> =>
  written.catch((error: Error) => session.log(`${key}: ${error.message}`));

/** `created` is not empty. */
export const noteSuccess = (session: Session, ...created: [Created, ...Created[]]): Promise<void> => {
  const [{ entry }] = created;
  return orWarn(session, entry.key, session.journal.recordSuccess(created, session.serverNow() ?? entry.at));
};

export const noteFailure = (session: Session, ...entries: Entry[]): Promise<void> =>
  orWarn(session, entries[0]?.key ?? "", session.journal.recordFailure(...entries));

export const noteAnswer = (session: Session, entry: Entry, uid: string): Promise<void> =>
  orWarn(session, entry.key, session.journal.recordAnswer(entry, uid));
