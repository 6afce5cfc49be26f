// A recovery waits until no record of an interrupted run can appear any more, for a minute or longer. It reports the wait, and ^C ends it.
import { once } from "node:events";
import { withSection } from "../../client/errors.ts";
import { placeInKey } from "../record/state.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";

/** After the first two seconds, and then from time to time. */
const FIRST_REPORT_MS = 2_000;
const REPORT_MS = 10_000;

/** ^C has ended a wait. The journal still holds its entries. */
class Cancelled extends Error {
  override readonly name = "Cancelled";
}

interface Waits {
  /** keys of the waiting resources, each under its own id */
  keys: Map<symbol, string>;
  sinceMs: number;
  reportAtMs: number;
  /** Resolves on ^C. One listener serves all waits: Node warns of many. */
  cancelled?: Promise<unknown>;
}

// One line for all: the engine recovers many resources at the same time.
const waitsOf = perSession((): Waits => ({ keys: new Map(), sinceMs: 0, reportAtMs: 0 }));

/** Runs a recovery of the resource. `work` waits by the clock of its session, and its result no longer counts after ^C. */
export const withRecoveryWait = async <T>(
  session: Session,
  key: string,
  work: (session: Session) => Promise<T>,
): Promise<T> => {
  const { clock, log, cancelled } = session;
  const waits = waitsOf(session);
  const report = () => {
    const now = clock.now();
    if (now < waits.reportAtMs) return;
    waits.reportAtMs = now + REPORT_MS;
    log(waitText([...new Set(waits.keys.values())], now - waits.sinceMs));
  };
  const sleep = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    while (clock.now() < until) {
      report();
      await clock.sleep(Math.min(until, waits.reportAtMs) - clock.now());
      if (cancelled?.aborted) throw new Cancelled(cancelledText(key));
    }
    report();
  };
  if (waits.keys.size === 0) {
    waits.sinceMs = clock.now();
    waits.reportAtMs = waits.sinceMs + FIRST_REPORT_MS;
  }
  const id = Symbol(key);
  waits.keys.set(id, key);
  try {
    const done = work({ ...session, clock: { ...clock, sleep } });
    if (!cancelled) return await done;
    waits.cancelled ??= cancelled.aborted ? Promise.resolve() : once(cancelled, "abort");
    const rejection = waits.cancelled.then(() => {
      throw new Cancelled(cancelledText(key));
    });
    return await Promise.race([done, rejection]);
  } finally {
    waits.keys.delete(id);
  }
};

const cancelledText = (key: string) =>
  withSection(`${key}: cancelled: the next update continues from the intent journal`, "recovery-waits");

const SHOWN = 3;

const waitText = (keys: readonly string[], waitedMs: number): string => {
  // A stack as a whole has no name of a resource.
  const names = keys.map((key) => placeInKey(key) || `all of ${key.replace(/\/$/, "")}`);
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return (
    `waiting for what an earlier request may still create, ${Math.round(waitedMs / 1000)} s so far: ` +
    `${names.slice(0, SHOWN).join(", ")}${more}. The wait ends once no such request can arrive (irm:requestTimeout). ^C ends it too, ` +
    "and the next update continues."
  );
};
