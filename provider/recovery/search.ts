// The record that a create made, when its answer did not tell: same parent, same inputs, not older than the intent by the
// service's own clock, and nobody else's. A list may lag behind a create, so that nothing found at first means nothing yet.

import { listChildren } from "../../client/paginate.ts";
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import type { Kind } from "../kind/kind.ts";
import { createTimeOf, recordId } from "../kind/record.ts";
import { lookUntilShown } from "../reconcile/lag.ts";
import { ambiguousCreate } from "../session/errors.ts";
import type { Session } from "../session/session.ts";
import { fingerprint } from "../state/fingerprint.ts";
import { SKEW_MS } from "./verdict.ts";

type Listed = Json & { uid: string };

export interface Search {
  /** the record has these inputs: narrows the list */
  sought?: Json | undefined;
  /** for how long it may stay hidden; default: one look */
  waitMs?: number;
  /** uids of records that are not it */
  before?: ReadonlySet<string>;
  /** by the service's clock: a record that is younger is not it */
  notAfter?: number | undefined;
}

/** The records that may be the entry's: looks until one is there, or none can show any more. */
export const findCreated = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  { sought, waitMs = 0, before, notAfter = Infinity }: Search,
): Promise<Json[]> => {
  const until = session.clock.now() + waitMs;
  const look = async () => {
    const found = (await matches(kind, session, entry, sought)).filter(
      (record) => !before?.has(record.uid) && createdMs(record) <= notAfter,
    );
    return found.length > 0 ? found : undefined;
  };
  return (await lookUntilShown(session.clock, look, () => until)) ?? [];
};

const createdMs = (record: Json): number => Date.parse(String(createTimeOf(record)));

const matches = async (kind: Kind, session: Session, entry: Entry, sought: Json | undefined): Promise<Listed[]> => {
  const { key, parent, inputs, given, notBefore } = entry;
  const others = await session.journal.idsBeside(key);
  const found: Listed[] = [];
  for await (const record of listChildren(session, kind.list, parent, sought && kind.filters(sought))) {
    const id = recordId(kind.field, record.uid);
    if (others.has(id) || session.claims.refusal(id, key)) continue;
    if (createdMs(record) >= notBefore - SKEW_MS && fingerprint(kind, parent, record, given) === inputs)
      found.push(record);
  }
  return found;
};

// Of records that are alike, made for resources that are alike, it does not matter which is whose. One that is older than the
// intent by less than the service's clocks may differ is ours or somebody else's.
export const onlyOne = async (
  kind: Kind,
  session: Session,
  found: readonly Json[],
  entry: Entry,
): Promise<Json | undefined> => {
  const isSure = found.every((record) => createdMs(record) >= entry.notBefore);
  if (isSure && (found.length <= 1 || found.length <= (await session.journal.openAlike(entry)))) return found[0];
  throw ambiguousCreate(kind, entry.key, found);
};
