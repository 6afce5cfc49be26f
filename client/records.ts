// Records by uid, and lists of them. Pages are fetched as the caller consumes them. A page token older than three days starts the list over
// (docs/internals/contract.md#d6), so records that were seen are skipped. A page may be empty and still name another page (AIP-158). So limits end a
// list that a service, or a cache in front of it, would continue for ever.
import {
  isUidp,
  type Json,
  type OperationName,
  parentOf,
  printable,
  type RequestOf,
  type Resource,
} from "../schema/index.ts";
import type { CallOptions, Client } from "./client.ts";
import { apiErrorOf, hasCode, ListError, operationError, RecordError } from "./errors.ts";
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
    if (problem) {
      // A partial list is worse than none: a missing record would look like one that does not exist.
      const which = filters.uidp === undefined ? "" : `uidp ${JSON.stringify(filters.uidp)}; `;
      const text = `${problem} (${which}${seen.size} records so far). The list is incomplete, so it is not used.`;
      throw new ListError(operation, text);
    }
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

// The standard methods (AIP-131 to AIP-135) on one record, as JSON. Every failure names the operation and the record once.

type Method<Verb extends string> = Extract<OperationName, `${Verb}${string}`>;

export interface RecordOperations {
  get: Method<"Get">;
  create: Method<"Create">;
  /** absent where records do not change */
  update?: Method<"Update">;
  delete: Method<"Delete">;
}

/** Properties of a kind that the standard methods need. */
interface RecordKind {
  /** its word in messages: `role binding` */
  word: string;
  /** field of the requests that holds the record */
  field: string;
  operations: RecordOperations;
  /** field of the API → argument of a program, where the names differ */
  arguments?: Readonly<Record<string, string>>;
}

type Caller = Pick<Client, "call">;

/** The record that an error names, in addition to the operation. */
interface Subject {
  uid?: string;
  name?: unknown;
  /** group of a new record; "": at the root */
  parent?: string;
}

export const getRecord = (
  { call }: Caller,
  kind: Pick<RecordKind, "word"> & { operations: Pick<RecordOperations, "get"> },
  uid: string,
  options?: CallOptions,
): Promise<Json> => withSubject(kind, kind.operations.get, { uid }, call(kind.operations.get, { uid }, options));

export const createRecord = ({ call }: Caller, kind: RecordKind, parent: string, record: Json): Promise<Json> => {
  const { create } = kind.operations;
  // The field's name is data, which the schema checks.
  const request = { parent, [kind.field]: record } as RequestOf<Method<"Create">>;
  return withSubject(kind, create, { name: record.name, parent }, call(create, request));
};

/** Sends a PATCH of the fields that `paths` names; `record` holds at least these. */
export const updateRecord = (
  { call }: Caller,
  kind: RecordKind,
  uid: string,
  record: Json,
  paths: readonly string[],
  name?: unknown,
): Promise<Json> => {
  const { update } = kind.operations;
  if (update === undefined) throw new TypeError(`no method updates a ${kind.word}`);
  const request = { [kind.field]: { ...record, uid }, updateMask: paths.join(",") } as RequestOf<Method<"Update">>;
  return withSubject(kind, update, { uid, name }, call(update, request));
};

export const deleteRecord = async (
  { call }: Caller,
  kind: Pick<RecordKind, "word"> & { operations: Pick<RecordOperations, "delete"> },
  uid: string,
  name?: unknown,
): Promise<void> => {
  const operation = kind.operations.delete;
  await withSubject(kind, operation, { uid, name }, call(operation, { uid }));
};

const withSubject = (
  kind: Pick<RecordKind, "word" | "arguments">,
  operation: OperationName,
  subject: Subject,
  answer: Promise<Json>,
) =>
  answer.catch((error: unknown) => {
    const cause = apiErrorOf(error);
    throw cause ? new RecordError(subjectText(kind, operation, subject), cause, { names: kind.arguments }) : error;
  });

/** `in 7209…/a033…`, or `at the root` for the parent "". */
export const placeText = (parent: string): string => (parent === "" ? "at the root" : `in ${parent}`);

/** `UpdateGroup group 7209…/a033… "team"` */
export const subjectText = (
  { word }: Pick<RecordKind, "word">,
  operation: OperationName,
  { uid, name, parent }: Subject,
): string => {
  const where = parent === undefined ? "" : placeText(parent);
  const title = name === undefined ? "" : `"${name}"`;
  return [operation, word, uid, title, where].filter(Boolean).join(" ");
};

const ABSENT = "0".repeat(16);

/**
 * Whether lists show the caller the records of a kind in a group. A list never denies: without the right it has fewer rows
 * (docs/internals/contract.md#authorization). So this requests a record that does not exist: the answer is 403 without the right, and 404 with it
 * (docs/internals/contract.md#d5).
 */
export const isListable = async (
  { call }: Caller,
  { operations }: { operations: Pick<RecordOperations, "get"> },
  group: string,
): Promise<boolean> => {
  try {
    await call(operations.get, { uid: `${group}/${ABSENT}` });
    return true;
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return true;
    if (hasCode(error, "PERMISSION_DENIED") || hasCode(error, "UNIMPLEMENTED")) return false;
    throw error;
  }
};
