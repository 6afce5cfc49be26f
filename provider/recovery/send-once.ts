// Sends a POST that creates records, whose entries are on disk. After a lost response it searches for the records, and never sends a
// second POST while the first may still be processed. Where the outcome is unknown, the entries stay pending for the next run.
import type { CallOptions } from "../../client/client.ts";
import { apiErrorOf, hasCode, LostAnswer, RecordError } from "../../client/errors.ts";
import { delayMs, isExhausted, isResendable, newAttemptBudget } from "../../client/retry.ts";
import { rootOf } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Session } from "../run/session.ts";
import { noteFailure } from "./outcome.ts";

export interface Sending<T> {
  /** uid of the group that holds the new records */
  parent: string;
  /** what may have been created, for the error of an unknown outcome: `the group was`, `the 3 role bindings were` */
  what: string;
  /** those of the records that no search has found so far */
  entries(): Entry[];
  /** A response that does not name the created records throws the error of a lost one. */
  send(options: CallOptions): Promise<T>;
  /** All that the requests so far have created; undefined where something is missing. */
  search(lost: Error): Promise<T | undefined>;
}

export const sendOnce = async <T>(session: Session, sending: Sending<T>): Promise<T> => {
  const { journal, clock } = session;
  const { parent, what, entries, send, search } = sending;
  const attempts = newAttemptBudget(clock);
  let wasLost = false;
  for (;;) {
    let isSent = false;
    const beforeSend = async () => {
      await journal.recordSend(entries(), session.serverNow() ?? 0);
      isSent = true;
    };
    try {
      return await send({ permissionIsNew: session.ownership.isNewRoot(rootOf(parent)), attempts, beforeSend });
    } catch (error) {
      const cause = apiErrorOf(error);
      if (!(error instanceof RecordError && cause instanceof LostAnswer)) {
        if (wasLost) {
          // An earlier request may still be processed; the existing record may be its result.
          const own = hasCode(error, "ALREADY_EXISTS") ? await search(error as Error) : undefined;
          if (own !== undefined) return own;
          throw unknownOutcome(what, error as Error);
        }
        // Once the request was sent, only an error of the service proves that there is no record.
        if (cause || !isSent) await noteFailure(session, ...entries());
        throw error;
      }
      wasLost = true;
      const failedAt = clock.now();
      // A search costs as much as a retry: in an outage the requests must not double.
      if (!session.acquireRetry(cause.failure)) throw unknownOutcome(what, error);
      const found = await search(error);
      if (found !== undefined) return found;
      // The search was part of the delay.
      const next = Math.max(clock.now(), failedAt + delayMs(cause.failure, attempts.count, clock.random()));
      const isOver = session.cancelled?.aborted || isExhausted(attempts, next);
      if (!isResendable(cause.failure) || isOver) throw unknownOutcome(what, error);
      if (next > clock.now()) await clock.sleep(next - clock.now());
    }
  }
};

/** The outcome of a create is unknown, and its entry stays pending. */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome";
}

export const unknownOutcome = (what: string, error: Error): UnknownOutcome =>
  new UnknownOutcome(
    `${error.message}\n` +
      `It is unknown whether ${what} created. The intent journal keeps the create as pending, and the next run searches for the record first.`,
  );
