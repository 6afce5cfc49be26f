// The service's own clock. What is compared with createTime, or passed from one machine to another, never comes from a
// machine's own clock (docs/faults.md#f24).
import type { Session } from "./session.ts";

/** `Date` tells whole seconds. */
export const DATE_MS = 1_000;

/** Milliseconds since the epoch, never ahead of the service; asks it when it has not answered anything yet. */
export const serviceNow = async (session: Session): Promise<number> => {
  if (session.serverNow() === undefined) await session.call("Ping", {}).catch(() => undefined);
  // Without any answer the next request gets none either.
  return session.serverNow() ?? session.clock.today();
};
