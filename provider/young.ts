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
    try {
      return await attempt();
    } catch (error) {
      if (!isApiError(error, "NOT_FOUND") || !isYoung(session, stored)) throw error;
      await session.clock.sleep(wait);
    }
  }
};

const isYoung = (session: Session, { createTime }: Json): boolean => {
  const now = session.serverNow();
  const created = Date.parse(String(createTime));
  return now !== undefined && now - created < LAG_MS;
};
