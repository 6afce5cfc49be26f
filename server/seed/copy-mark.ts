// What a store remembers of the copy that it holds, and where an operator of a twin may do everything.
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

/**
 * The groups where an operator of a twin may do everything: those that were copied. One that acts as no identity founds no organization, and
 * may do everything in those that others found, too: so a review sees each of them, whoever owns it in the end. `tops`: of the copy. Returns
 * uids, by the identity that the operator acts as; "": none.
 */
export const operatedIn = (store: Store, tops: readonly string[]): ((identity: string) => readonly string[]) => {
  const organizations = (): string[] =>
    store
      .statement("SELECT uid FROM groups WHERE parent IS NULL")
      .all()
      .map(({ uid }) => uid as string);
  const copied = new Set(organizations());
  return (identity) => (identity === "" ? [...tops, ...organizations().filter((uid) => !copied.has(uid))] : tops);
};
