// The record that a create made, when its answer did not tell: same parent, same inputs, not older than the intent by the
// service's own clock, and nobody else's. A list may lag behind a create, so that nothing found at first means nothing yet.
import type { Json } from "../schema/index.ts";
import { fingerprint } from "./fingerprint.ts";
import type { Entry } from "./journal/entry.ts";
import type { Kind } from "./kind/kind.ts";
import { lookUntilShown } from "./lag.ts";
import type { Session } from "./session.ts";
import { walkChildren } from "./walk.ts";

// `Date` tells whole seconds, and the machines of a service do not agree to the millisecond.
const SKEW_MS = 1_000;

/** The records that may be the entry's; looks until one is there or `waitMs` is over. `sought` narrows the list. */
export const findCreated = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  sought: Json | undefined,
  waitMs: number,
): Promise<Json[]> => {
  const until = session.clock.now() + waitMs;
  const look = async () => {
    const found = await matches(kind, session, entry, sought);
    return found.length > 0 ? found : undefined;
  };
  return (await lookUntilShown(session.clock, look, () => until)) ?? [];
};

const matches = async (kind: Kind, session: Session, entry: Entry, sought: Json | undefined): Promise<Json[]> => {
  const { key, parent, inputs, given, notBefore } = entry;
  const others = await session.journal.uidsBeside(key);
  const found: Json[] = [];
  for await (const record of walkChildren(session, kind.list, parent, sought && kind.list.filters(sought))) {
    if (others.has(record.uid) || session.claims.refusal(record.uid, key)) continue;
    const createdMs = Date.parse(String(record.createTime));
    if (createdMs >= notBefore - SKEW_MS && fingerprint(kind, parent, record, given) === inputs) found.push(record);
  }
  return found;
};
