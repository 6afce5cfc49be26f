// The record that a create made, when its answer did not tell: same parent, same inputs, not older than the intent by the
// service's own clock, and nobody else's. A list may lag behind a create, so that nothing found at first means nothing yet.
import { isUidp, type Json, parentOf } from "../schema/index.ts";
import { fingerprint } from "./fingerprint.ts";
import type { Entry } from "./journal/entry.ts";
import type { Kind } from "./kind/kind.ts";
import type { Session } from "./session.ts";
import { walk } from "./walk.ts";

/** How long a record may stay hidden from reads after its create. */
export const LAG_MS = 5_000;

// `Date` tells whole seconds, and the machines of a service do not agree to the millisecond.
const SKEW_MS = 1_000;

const WAITS_MS = [250, 500, 1_000, 1_500, 2_000];

/** The records that may be the entry's; polls until one is there or `waitMs` is over. `sought` narrows the list. */
export const findCreated = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  sought: Json | undefined,
  waitMs: number,
): Promise<Json[]> => {
  const { clock } = session;
  const until = clock.now() + waitMs;
  for (let count = 1; ; count += 1) {
    // The last look begins when the time is over: one that began before may have seen what was hidden then.
    const isLast = clock.now() >= until;
    const found = await matches(kind, session, entry, sought);
    if (found.length > 0 || isLast) return found;
    const left = Math.max(0, until - clock.now());
    await clock.sleep(Math.min(left, WAITS_MS[Math.min(count, WAITS_MS.length) - 1] as number));
  }
};

const matches = async (kind: Kind, session: Session, entry: Entry, sought: Json | undefined): Promise<Json[]> => {
  const { key, parent, inputs, given, notBefore } = entry;
  const uidp = parent === "" ? { inRoot: true } : { childrenOf: parent };
  const filters = sought && kind.list.filters(sought);
  const others = await session.journal.uidsBeside(key);
  const found: Json[] = [];
  for await (const record of walk<Json & { uid: string }>(session, kind.list.operation, kind.list.plural, {
    ...filters,
    uidp,
  })) {
    if (!isUidp(record.uid) || parentOf(record.uid) !== parent) continue;
    if (others.has(record.uid) || session.claims.refusal(record.uid, key)) continue;
    const createdMs = Date.parse(String(record.createTime));
    if (createdMs >= notBefore - SKEW_MS && fingerprint(kind, parent, record, given) === inputs) found.push(record);
  }
  return found;
};
