// Lists. Pages are fetched as the caller consumes them. A page token older than three days starts the list over (docs/contract.md#d6),
// so records that were seen are skipped. A page may be empty and still name another page (AIP-158). So limits end a list that a service,
// or a cache in front of it, would continue for ever.
import { isUidp, type Json, parentOf, printable, type RequestOf, type Resource } from "../schema/index.ts";
import type { CallOptions, Client } from "./client.ts";
import { ListError, operationError } from "./errors.ts";
import { DEADLINE_MS } from "./retry.ts";

/** A list method, and the field of its response that holds the records. */
export type List = Resource["list"];

/** A record of a list. */
export type Listed = Json & { uid: string };

const PAGE_SIZE = 200;

// Limit of pages without a new record, beyond the pages with one: a list that starts over repeats every page once.
const BARREN_PAGES_MAX = 10;
const RECORDS_MAX = 1_000_000;
/** Longest wait for a new record, and for the whole list. The time that the caller spends on records does not count. */
const STALLED_MS = DEADLINE_MS;
const LIST_MS = 60 * 60_000;

/** Every record of the list, each once. Errors: that of the API, or a ListError. */
export async function* listAll<T extends { uid: string } = Listed>(
  client: Pick<Client, "call" | "clock">,
  list: List,
  filters: Json,
  recordsMax = RECORDS_MAX,
): AsyncGenerator<T, void, undefined> {
  const { operation } = list;
  const { clock } = client;
  const seen = new Set<string>();
  const tokens = new Set<string>();
  const waited = { inAllMs: 0, sinceNewMs: 0 };
  let barren = 0;
  for (let pageToken: string | undefined, pages = 1; ; pages += 1) {
    const request = { pageSize: PAGE_SIZE, ...list.always, ...filters, ...(pageToken ? { pageToken } : {}) };
    const beganMs = clock.now();
    const page = await listPage<T>(client, list, request).catch((error: unknown) => {
      throw operationError(error, operation);
    });
    const tookMs = clock.now() - beganMs;
    const before = seen.size;
    for (const record of page.records) {
      if (!isUidp(record.uid)) throw new ListError(operation, `the service lists ${withWrongUid(record)}.`);
      if (seen.has(record.uid)) continue;
      seen.add(record.uid);
      yield record;
    }
    pageToken = page.nextPageToken;
    if (!pageToken) return;
    const isBarren = seen.size === before;
    if (isBarren) barren += 1;
    waited.inAllMs += tookMs;
    waited.sinceNewMs = isBarren ? waited.sinceNewMs + tookMs : 0;
    const problem = problemOf({ isRepeated: tokens.has(pageToken), pages, barren, ...waited }, seen.size, recordsMax);
    if (problem) throw incompleteList(operation, filters, problem, seen.size);
    tokens.add(pageToken);
  }
}

/** The records directly in a group or a repo; for the parent "", at the root. */
export async function* listChildren<T extends { uid: string } = Listed>(
  client: Pick<Client, "call" | "clock">,
  list: List,
  parent: string,
  filters: Json = {},
): AsyncGenerator<T, void, undefined> {
  const { sharesUid = false } = list;
  const uidp = sharesUid ? { ids: [parent] } : parent === "" ? { inRoot: true } : { childrenOf: parent };
  for await (const record of listAll<T>(client, list, { ...filters, uidp })) {
    // A service that ignores the filter must not decide which record is adopted, or who is granted what.
    if ((sharesUid ? record.uid : parentOf(record.uid)) === parent) yield record;
  }
}

/** One page. Throws the API's error unchanged. */
export const listPage = async <T extends { uid: string } = Listed>(
  { call }: Pick<Client, "call">,
  { operation, plural }: List,
  request: Json,
  options?: CallOptions,
) => {
  const page: Json = await call(operation, request as RequestOf<List["operation"]>, options);
  return {
    records: (page[plural] ?? []) as T[],
    /** records of all pages, where the service counts them */
    totalCount: page.totalCount === undefined ? undefined : Number(page.totalCount),
    nextPageToken: page.nextPageToken as string | undefined,
  };
};

interface Progress {
  /** the service returned this page token before */
  isRepeated: boolean;
  pages: number;
  /** pages without a new record */
  barren: number;
  inAllMs: number;
  sinceNewMs: number;
}

/** Why the list stops although the service names another page. */
const problemOf = (progress: Progress, records: number, recordsMax: number): string | undefined => {
  const { isRepeated, pages, barren, inAllMs, sinceNewMs } = progress;
  if (isRepeated) return "the service returned the same page token twice";
  if (records > recordsMax) return `more than ${recordsMax} records`;
  if (sinceNewMs >= STALLED_MS)
    return `no new record for ${STALLED_MS / 1000} seconds, and the service names another page`;
  if (barren > pages - barren + BARREN_PAGES_MAX)
    return `${barren} of ${pages} pages contained nothing new, and the service names another one`;
  if (inAllMs >= LIST_MS) return `not complete after ${LIST_MS / 1000} seconds of waiting`;
  return undefined;
};

// A partial list is worse than none: a missing record would look like one that does not exist.
const incompleteList = (operation: List["operation"], { uidp }: Json, problem: string, records: number) => {
  const which = uidp === undefined ? "" : `uidp ${JSON.stringify(uidp)}; `;
  return new ListError(
    operation,
    `${problem} (${which}${records} records so far). The list is incomplete, so it is not used.`,
  );
};

const withWrongUid = ({ uid, name }: Json) =>
  [
    "a record",
    ...(name ? [shown(name)] : []),
    uid === undefined || uid === "" ? "without a uid" : `with the uid ${shown(uid)}, which is none`,
  ].join(" ");

const shown = (value: unknown) => printable(JSON.stringify(value));

// A proxy may refuse a longer address.
const QUERY_MAX = 7_200;

/** The uids in parts, each short enough for an address. */
export const partsOf = (uids: Iterable<string>): string[][] => {
  const parts: string[][] = [];
  let room = 0;
  for (const uid of uids) {
    const length = encodeURIComponent(`uidp.ids=${uid}&`).length;
    room -= length;
    if (room < 0) {
      parts.push([]);
      room = QUERY_MAX - length;
    }
    parts.at(-1)?.push(uid);
  }
  return parts;
};
