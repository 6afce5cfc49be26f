// The groups where an operator of a twin may do everything: those that were copied. One that acts as no identity founds no organization, and
// may do everything in those that others found, too: so a review sees each of them, whoever owns it in the end.
import type { Store } from "../store/store.ts";

/** `tops`: of the copy. Returns uids, by the identity that the operator acts as; "": none. */
export const operatedIn = (store: Store, tops: readonly string[]): ((identity: string) => readonly string[]) => {
  const organizations = (): string[] =>
    store
      .statement("SELECT uid FROM groups WHERE parent IS NULL")
      .all()
      .map(({ uid }) => uid as string);
  const copied = new Set(organizations());
  return (identity) => (identity === "" ? [...tops, ...organizations().filter((uid) => !copied.has(uid))] : tops);
};
