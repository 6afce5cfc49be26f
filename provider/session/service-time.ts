// The service's own clock: what is compared with createTime, or told by one machine to another, is never by a machine's own
// (spec/faults.md, F24).
import type { Session } from "./session.ts";

/** `Date` tells whole seconds. */
export const DATE_MS = 1_000;

/** Milliseconds since the epoch, never ahead of the service; asks it when it has not answered anything yet. */
export const serviceNow = async (session: Session): Promise<number> => {
  if (session.serverNow() === undefined) await session.call("Ping", {}).catch(() => undefined);
  // Without any answer the next request gets none either.
  return session.serverNow() ?? session.clock.today();
};
