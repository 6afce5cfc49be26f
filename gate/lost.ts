// Creates whose answer was lost, or is of another record: the provider's own rule finds the record (provider/recovery/search.ts).
import type { Client } from "../client/client.ts";
import { kindRecords } from "../provider/kind/index.ts";
import type { Entry } from "../provider/log/entry.ts";
import { desiredWith } from "../provider/record/desired.ts";
import type { Kind } from "../provider/record/kind.ts";
import { CREATION_GRACE_MS } from "../provider/recovery/not-found.ts";
import { findCreated, judge, pickCreated, type SearchSession } from "../provider/recovery/search.ts";
import type { Json } from "../schema/index.ts";
import type { Resolved } from "./resolved.ts";

/** A create as the provider's rule knows it; undefined for a kind that no program declares. */
export interface Sent {
  kind: Kind;
  entry: Entry;
  /** It may be sent again if no record is found. */
  mayResend: boolean;
}

/** `at`: before it is sent, by the service's clock */
export const sentCreate = ({ method, parent = "", fields }: Resolved, n: number, at: number): Sent | undefined => {
  const kind = (kindRecords as Readonly<Record<string, Kind>>)[method.resource.field];
  if (kind === undefined) return undefined;
  const { fingerprint, choices } = desiredWith(kind, { ...fields, ...(parent !== "" && { parent }) });
  const id = `write ${n}`;
  const entry = {
    intent: id,
    key: id,
    kind: kind.field,
    parent,
    inputs: fingerprint,
    given: [...choices],
    at,
    notBefore: at,
  };
  return { kind, entry, mayResend: false };
};

/** Whether an answer names the record that the create has made. `existed`: another one that was there before */
export const isAnswerTo = ({ kind, entry }: Sent, record: Json, existed: (uid: string) => boolean): boolean => {
  if (!kind.upsert && existed(record.uid as string)) return false;
  const { is, ...found } = judge(kind, entry, record);
  return is === "own" || ("by" in found && found.by === "age");
};

/**
 * The records that creates of one parent have made, in their order; undefined where there is none. `except`: uids that were there before, or that another
 * create has made. `alike`: creates like this one whose answer is lost. Throws where the service does not list them, or where one may be of somebody else.
 */
export const findLost = async (
  reader: Pick<Client, "call" | "clock">,
  sent: readonly Sent[],
  { except, alike }: { except: ReadonlySet<string>; alike: number },
): Promise<(Json | undefined)[]> => {
  const [{ kind }] = sent as [Sent];
  const session: SearchSession = {
    ...reader,
    ownership: { creationRefusal: () => undefined },
    journal: { isOfOther: async () => false, countPendingAlike: async () => alike },
  };
  const entries = sent.map(({ entry }) => entry);
  const search = { waitMs: CREATION_GRACE_MS, ...(!kind.upsert && { except }) };
  const found = await findCreated(kind, session, entries, search);
  return Promise.all(found.map((records, i) => pickCreated(kind, session, records, entries[i] as Entry)));
};
