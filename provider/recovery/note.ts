// What the service has answered is written to the journal, and is for the engine to hear: a disk that is full by now must not
// keep it from that, so that what cannot be written is said.
import type { Entry } from "../journal/entry.ts";
import type { Session } from "../session/session.ts";

export const noteMade = (session: Session, entry: Entry, uid: string): Promise<void> =>
  orSaid(session, entry, session.journal.made(entry, uid, session.serverNow() ?? entry.at));

export const noteClosed = (session: Session, entry: Entry): Promise<void> =>
  orSaid(session, entry, session.journal.closed(entry));

export const noteAnswered = (session: Session, entry: Entry, uid: string): Promise<void> =>
  orSaid(session, entry, session.journal.answered(entry, uid));

const orSaid = (session: Session, { key }: Entry, written: Promise<void>): Promise<void> =>
  written.catch((error: Error) => session.say(`${key}: ${error.message}`));
