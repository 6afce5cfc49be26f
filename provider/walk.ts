// A list to its last page: pages are fetched as they are walked through. A page token older than three days restarts the walk
// (decision 6), so uids that were seen are dropped.
import { isUidp, type Json, parentOf } from "../schema/index.ts";
import { callFailure } from "./failure.ts";
import type { ListOperation } from "./kind/kind.ts";
import type { Session } from "./session.ts";

const PAGE_SIZE = 200;

export async function* walk<T extends { uid: string }>(
  session: Session,
  operation: ListOperation,
  plural: string,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  const tokens = new Set<string>();
  for (let pageToken: string | undefined; ; ) {
    const request = { pageSize: PAGE_SIZE, ...args, ...(pageToken ? { pageToken } : {}) };
    const page = (await session.call(operation, request as never).catch((error: unknown) => {
      throw callFailure(error, operation);
    })) as Json;
    for (const item of (page[plural] ?? []) as T[]) {
      if (seen.has(item.uid)) continue;
      seen.add(item.uid);
      yield item;
    }
    pageToken = page.nextPageToken as string | undefined;
    if (!pageToken) return;
    // Never an endless walk, and never one that ends early without saying so.
    if (tokens.has(pageToken)) throw new Error(`${operation}: the service gave the same page token twice`);
    tokens.add(pageToken);
  }
}

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
