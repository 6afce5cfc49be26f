// What a store remembers of the copy that it holds.
import type { Store } from "../store/store.ts";
import type { Unseen } from "./unseen.ts";

export interface CopyMark {
  /** which copy it is: where its records come from, and when they were read */
  source: string;
  /** uid of its first organization, or of the first group that could be seen */
  organization: string;
  /** uids of the groups that have all records of the copy, none below another */
  tops: readonly string[];
  /** what exists beside it, or may exist */
  unseen: Unseen;
}

const KEY = "copy";

/** Undefined for a store of records of its own. */
export const copyMarkOf = (store: Store): CopyMark | undefined => {
  const text = store.meta(KEY);
  return text === undefined ? undefined : (JSON.parse(text) as CopyMark);
};

export const setCopyMark = (store: Store, mark: CopyMark): void => store.setMeta(KEY, JSON.stringify(mark));
