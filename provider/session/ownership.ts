// Which resource owns a record, in this process (`recordId` distinguishes records that share a uid). A record has one owner. A run
// never deletes what it has taken or keeps, and no resource takes what the run deletes.
import { isRoot } from "../../schema/index.ts";

/** How a resource came by its record in this run. */
export type Origin = "created" | "recovered" | "adopted";

export interface Ownership {
  /**
   * The engine asked for this record, so a resource of its state owns it. `key` is that resource if the program declares it.
   * Throws where another declared resource owns it too.
   */
  inState(uid: string, key?: string): void;
  /** The resource that owns this record keeps it in this run; `adopted`: the record existed before that resource. */
  keep(uid: string, adopted: boolean): void;
  /** The resource that adopted this record is deleted, and the record stays. */
  leave(uid: string): void;
  /** A resource becomes the owner. Throws where another one owns the record, or this run deletes it. */
  take(uid: string, key: string, origin: Origin): void;
  /** A resource is going to adopt the record. Returns why it must not; undefined when it may. */
  plan(uid: string, key: string): string | undefined;
  /** This resource owns the record: the engine's state has it, or the resource has taken it in this run. */
  isOwnedBy(uid: string, key: string): boolean;
  /** This process created the record, so it holds only what this process creates there. */
  isCreatedHere(uid: string): boolean;
  /** The root group is new to this process: tokens issued before it existed do not grant anything in it. */
  isNewRoot(uid: string): boolean;
  /** This run took the record, keeps it, or leaves it in place. */
  isHeld(uid: string): boolean;
  /** Why a create of `key` cannot have produced the record; undefined when it can. */
  creationRefusal(uid: string, key: string): string | undefined;
  /** Why `key` must not adopt the record. That the state has it is no reason: it may be there under the resource's old name. */
  adoptionRefusal(uid: string, key: string): string | undefined;
  /**
   * This run is about to delete the record. Returns false when the run has taken it, is going to adopt it, or keeps it as adopted.
   * `own`: the resource that adopted it is deleted itself.
   */
  release(uid: string, own?: boolean): boolean;
  /** This run is deleting the record, or has deleted it. */
  isLeaving(uid: string): boolean;
  /** The record is deleted. A new one may have the same uid: an account association has that of its group. */
  forget(uid: string): void;
}

export const createOwnership = (): Ownership => {
  const inState = new Set<string>();
  const owners = new Map<string, string>();
  const taken = new Map<string, { key: string; origin: Origin }>();
  const kept = new Set<string>();
  const adopted = new Set<string>();
  const leaving = new Set<string>();
  const planned = new Map<string, string>();

  const ownerOf = (uid: string): string | undefined => taken.get(uid)?.key ?? owners.get(uid);

  const adoptionRefusal = (uid: string, key: string): string | undefined => {
    if (leaving.has(uid)) return "is being deleted by this run";
    const owner = ownerOf(uid);
    return owner === undefined || owner === key ? undefined : `is already managed by ${owner}`;
  };

  return {
    inState: (uid, key) => {
      inState.add(uid);
      if (key === undefined) return;
      const other = ownerOf(uid) ?? planned.get(uid);
      if (other !== undefined && other !== key)
        throw new Error(
          `${key}: ${uid} is already managed by ${other}; a record can be managed by only one resource, so adopt it in one of them`,
        );
      owners.set(uid, key);
    },
    keep: (uid, isAdopted) => {
      kept.add(uid);
      if (isAdopted) adopted.add(uid);
    },
    leave: (uid) => {
      kept.add(uid);
    },
    take: (uid, key, origin) => {
      const reason = adoptionRefusal(uid, key);
      if (reason) throw new Error(`${uid} ${reason}`);
      taken.set(uid, { key, origin });
    },
    plan: (uid, key) => {
      const other = planned.get(uid);
      if (other !== undefined && other !== key) return `is adopted by ${other} as well`;
      planned.set(uid, key);
      return adoptionRefusal(uid, key);
    },
    isOwnedBy: (uid, key) => ownerOf(uid) === key,
    isCreatedHere: (uid) => taken.get(uid)?.origin === "created",
    isNewRoot: (uid) => isRoot(uid) && taken.has(uid) && taken.get(uid)?.origin !== "adopted",
    isHeld: (uid) => taken.has(uid) || kept.has(uid),
    creationRefusal: (uid, key) => {
      if (inState.has(uid) && !taken.has(uid)) return "is already managed by another resource of this stack";
      return adoptionRefusal(uid, key);
    },
    adoptionRefusal,
    release: (uid, own = false) => {
      if (taken.has(uid) || ((planned.has(uid) || adopted.has(uid)) && !own)) return false;
      leaving.add(uid);
      return true;
    },
    isLeaving: (uid) => leaving.has(uid),
    forget: (uid) => {
      for (const uids of [inState, kept, adopted, leaving]) uids.delete(uid);
      owners.delete(uid);
    },
  };
};
