// A list of a kind, read page by page as far as its caller needs, and kept for a while. It is dropped if it is too old or too large, or if
// this process has written since it began.
import type { CallOptions } from "../../client/client.ts";
import { type Listed, listPage } from "../../client/records.ts";
import { getOrInsert, isUidp, type Json, PAGE_SIZE_MAX, parentOf } from "../../schema/index.ts";
import type { Kind } from "../record/kind.ts";
import type { Session } from "../run/session.ts";

/** In characters, which is about its size in memory. */
const SIZE_MAX = 64 * 1024 * 1024;

export type Listing = ReturnType<typeof listingOf>;

interface Pages {
  count: number;
  token: string | undefined;
  isComplete: boolean;
  beganMs: number;
  writes: string;
  size: number;
  byParent: Map<string, Map<string, Listed>>;
}

/** `writes`: a count of writes; once it changes, pages may be stale. */
export const listingOf = (
  session: Session,
  { list }: Pick<Kind, "list">,
  filters: Json,
  { freshMs, writes }: { freshMs: number; writes: () => string },
) => {
  let pages: Pages | undefined;
  // As the service counted it last.
  let total: number | undefined;
  const childrenOf = (parent: string): readonly Listed[] => [...(pages?.byParent.get(parent)?.values() ?? [])];
  return {
    /** Drops pages that may be stale. */
    refresh: () => {
      if (!pages) return;
      const isOld = session.clock.now() - pages.beganMs > freshMs;
      if (isOld || pages.writes !== writes()) pages = undefined;
    },
    /** every record of the list is here */
    isComplete: () => pages?.isComplete === true,
    /** how many more pages there are, as far as the service says; Infinity where it cannot be kept */
    pagesLeft: () => {
      if (pages?.isComplete) return 0;
      // At least one, whatever the service counts.
      return total === undefined ? 1 : Math.max(1, Math.ceil(total / PAGE_SIZE_MAX) - (pages?.count ?? 0));
    },
    /** Reads one more page, and returns its records. */
    next: async (options?: CallOptions): Promise<readonly Listed[]> => {
      pages ??= {
        count: 0,
        token: undefined,
        isComplete: false,
        beganMs: session.clock.now(),
        writes: writes(),
        size: 0,
        byParent: new Map(),
      };
      const current = pages;
      const page = { pageSize: PAGE_SIZE_MAX, ...(current.token ? { pageToken: current.token } : {}) };
      const request = { ...list.always, ...filters, ...page };
      const { records, totalCount, nextPageToken } = await listPage(session, list, request, options);
      const listed = records.filter(({ uid }) => isUidp(uid));
      const isBarren =
        nextPageToken !== undefined && listed.every(({ uid }) => current.byParent.get(parentOf(uid))?.has(uid));
      for (const record of listed) {
        getOrInsert(current.byParent, parentOf(record.uid), () => new Map<string, Listed>()).set(record.uid, record);
        current.size += JSON.stringify(record).length;
      }
      current.count += 1;
      current.token = nextPageToken;
      current.isComplete = !nextPageToken;
      total = totalCount;
      // Pages may be empty (AIP-158), or repeat for ever: reading another page of this list is not worthwhile.
      if (current.size > SIZE_MAX || isBarren) {
        pages = undefined;
        total = Infinity;
      }
      return listed;
    },
    find: (uid: string) => pages?.byParent.get(parentOf(uid))?.get(uid),
    childrenOf,
    all: (): readonly Listed[] => [...(pages?.byParent.keys() ?? [])].flatMap(childrenOf),
  };
};
