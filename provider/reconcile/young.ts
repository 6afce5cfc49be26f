// A record that was made a moment ago may not be readable yet: until its lag is over, by the service's own clock, NOT_FOUND
// says nothing.
import { hasCode } from "../../client/errors.ts";
import type { Json } from "../../schema/index.ts";
import { createTimeOf } from "../kind/record.ts";
import type { Session } from "../session/session.ts";
import { LAG_MS, lookUntilShown } from "./lag.ts";

/** Attempts again while the record, whose outputs are in the state, is so young. */
export const whileYoung = async <T>(session: Session, stored: Json, attempt: () => Promise<T>): Promise<T> => {
  let notFound: unknown;
  const look = async () => {
    try {
      return { answer: await attempt() };
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      notFound = error;
      return undefined;
    }
  };
  const done = await lookUntilShown(session.clock, look, () => hiddenUntil(session, stored));
  if (!done) throw notFound;
  return done.answer;
};

const hiddenUntil = ({ clock, serverNow }: Session, stored: Json): number => {
  const ageMs = Math.max(0, (serverNow() ?? Infinity) - Date.parse(String(createTimeOf(stored))));
  return clock.now() + LAG_MS - ageMs;
};
