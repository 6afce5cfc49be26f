// A record that was made a moment ago may not be readable yet: until five seconds after its create, by the service's own
// clock, NOT_FOUND says nothing.
import { isApiError, type Json } from "../schema/index.ts";
import { LAG_MS } from "./find.ts";
import type { Session } from "./session.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 1_000;

/** Attempts again while the record, whose outputs are in the state, is so young. */
export const whileYoung = async <T>(session: Session, stored: Json, attempt: () => Promise<T>): Promise<T> => {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    // Judged before: an attempt that began too early may end when the record is old enough.
    const isLast = ageMs(session, stored) >= LAG_MS;
    try {
      return await attempt();
    } catch (error) {
      const age = ageMs(session, stored);
      if (!isApiError(error, "NOT_FOUND") || isLast || Number.isNaN(age)) throw error;
      if (age < LAG_MS) await session.clock.sleep(wait);
    }
  }
};

/** By the service's clock; NaN where it has not told its time, or the record has none. */
const ageMs = (session: Session, { createTime }: Json): number =>
  (session.serverNow() ?? Number.NaN) - Date.parse(String(createTime));
