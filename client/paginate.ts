// Walks a list to its last page and fetches each page when the caller gets there. A page token older than three days restarts
// the list (docs/contract.md#d6), so uids that were seen are dropped. The walk always ends: a page may be empty and name
// another one (AIP-158), so a service, or a cache in front of it, could otherwise go on for ever.

import type { ListOperation } from "../provider/kind/kind.ts";
import { callFailure } from "../provider/session/errors.ts";
import type { Session } from "../provider/session/session.ts";
import { isUidp, type Json, parentOf } from "../schema/index.ts";
import { DEADLINE_MS } from "./retry.ts";

const PAGE_SIZE = 200;

// So many pages without a new record, and one more for each page that had one: a walk that began again passes them all twice.
const BARREN_PAGES_MAX = 10;
const RECORDS_MAX = 1_000_000;
/** Waiting for pages, without a new record; and in all. The time that the program takes for a record does not count. */
const STALLED_MS = DEADLINE_MS;
const WALK_MS = 60 * 60_000;

export async function* walk<T extends { uid: string }>(
  session: Session,
  operation: ListOperation,
  plural: string,
  args: Json,
  recordsMax = RECORDS_MAX,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  const tokens = new Set<string>();
  const waited = { inAllMs: 0, sinceNewMs: 0 };
  let barren = 0;
  for (let pageToken: string | undefined, pages = 1; ; pages += 1) {
    const request = { pageSize: PAGE_SIZE, ...args, ...(pageToken ? { pageToken } : {}) };
    const beganMs = session.clock.now();
    const page = (await session.call(operation, request as never).catch((error: unknown) => {
      throw callFailure(error, operation);
    })) as Json;
    const tookMs = session.clock.now() - beganMs;
    const before = seen.size;
    for (const item of (page[plural] ?? []) as T[]) {
      if (seen.has(item.uid)) continue;
      seen.add(item.uid);
      yield item;
    }
    pageToken = page.nextPageToken as string | undefined;
    if (!pageToken) return;
    const isBarren = seen.size === before;
    if (isBarren) barren += 1;
    waited.inAllMs += tookMs;
    waited.sinceNewMs = isBarren ? waited.sinceNewMs + tookMs : 0;
    const problem = problemOf({ isRepeated: tokens.has(pageToken), pages, barren, ...waited }, seen.size, recordsMax);
    if (problem) throw endless(operation, args, problem, seen.size);
    tokens.add(pageToken);
  }
}

interface Progress {
  /** the page token was given before */
  isRepeated: boolean;
  pages: number;
  /** pages without a new record */
  barren: number;
  inAllMs: number;
  sinceNewMs: number;
}

/** Why the walk goes no further, though the service names another page. */
const problemOf = (progress: Progress, records: number, recordsMax: number): string | undefined => {
  const { isRepeated, pages, barren, inAllMs, sinceNewMs } = progress;
  if (isRepeated) return "the service gave the same page token twice";
  if (records > recordsMax) return `more than ${recordsMax} records`;
  if (sinceNewMs >= STALLED_MS)
    return `no new record for ${STALLED_MS / 1000} seconds, and the service names yet another page`;
  if (barren > pages - barren + BARREN_PAGES_MAX)
    return `${barren} of ${pages} pages brought nothing new, and the service names yet another one`;
  if (inAllMs >= WALK_MS) return `not over after ${WALK_MS / 1000} seconds of waiting`;
  return undefined;
};

// A list that is not whole is no list: what is missing in it would be taken for what is not there.
const endless = (operation: ListOperation, { uidp }: Json, problem: string, records: number): Error => {
  const which = uidp === undefined ? "" : `uidp ${JSON.stringify(uidp)}; `;
  return new Error(
    `${operation}: ${problem} (${which}${records} records so far). The list is not whole, so nothing goes on with it. ` +
      "Run it again; if it happens again, the service, or a proxy or cache before it, repeats its answers: " +
      "is irm:baseUrl (IRM_BASE_URL) the right address?",
  );
};

/** Those directly in a group; at the root, for the parent "". */
export async function* walkChildren<T extends { uid: string } = Json & { uid: string }>(
  session: Session,
  { operation, plural }: { operation: ListOperation; plural: string },
  parent: string,
  filters: Json = {},
): AsyncGenerator<T, void, undefined> {
  const uidp = parent === "" ? { inRoot: true } : { childrenOf: parent };
  for await (const record of walk<T>(session, operation, plural, { ...filters, uidp })) {
    // Looked at again: a service that ignored a filter must not choose what is taken, or who is granted what.
    if (isUidp(record.uid) && parentOf(record.uid) === parent) yield record;
  }
}
