// Whose a uid is, in this process: one uid belongs to one resource, what this run has taken or keeps it does not delete, and
// what it deletes nobody takes.

export interface Claims {
  /**
   * The engine has asked for this record: a resource of its state has it; `key` is that of the resource, where the program
   * declares it. Throws where another resource that it declares has the record as well.
   */
  inState(uid: string, key?: string): void;
  /** The resource that has this record keeps it in this run; `adopted`: it was there before that resource. */
  keep(uid: string, adopted: boolean): void;
  /** The resource that adopted this record goes, and the record stays. */
  leave(uid: string): void;
  /** A resource takes the record. Throws where it is another's, or is being deleted. */
  take(uid: string, key: string): void;
  /** A resource is going to adopt the record. Why it must not; undefined when it may. */
  plan(uid: string, key: string): string | undefined;
  /** This run has made or taken the record, keeps it, or leaves it in place. */
  isHeld(uid: string): boolean;
  /** Why a create of `key` cannot have made the record; undefined when it may. */
  refusal(uid: string, key: string): string | undefined;
  /** Why `key` must not adopt the record: what is in the state only may be about to leave it, by its old name. */
  adoptionRefusal(uid: string, key: string): string | undefined;
  /** This run is about to delete the record; false when it has taken it, or when the resource that has adopted it keeps it; `own`: that one asks. */
  release(uid: string, own?: boolean): boolean;
  /** The record is deleted. A new one may have the same uid: an account association has that of its group. */
  gone(uid: string): void;
}

export const createClaims = (): Claims => {
  const stateUids = new Set<string>();
  const owners = new Map<string, string>();
  const takers = new Map<string, string>();
  const kept = new Set<string>();
  const adopted = new Set<string>();
  const leaving = new Set<string>();
  const planned = new Map<string, string>();

  const adoptionRefusal = (uid: string, key: string): string | undefined => {
    if (leaving.has(uid)) return "is being deleted by this run";
    const owner = takers.get(uid) ?? owners.get(uid);
    return owner === undefined || owner === key ? undefined : `belongs to ${owner}`;
  };

  return {
    inState: (uid, key) => {
      stateUids.add(uid);
      if (key === undefined) return;
      const other = takers.get(uid) ?? owners.get(uid) ?? planned.get(uid);
      if (other !== undefined && other !== key)
        throw new Error(
          `${key}: ${uid} belongs to ${other} as well, and a record has one resource; adopt it in one of them`,
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
    take: (uid, key) => {
      const reason = adoptionRefusal(uid, key);
      if (reason) throw new Error(`${uid} ${reason}`);
      takers.set(uid, key);
    },
    plan: (uid, key) => {
      const other = planned.get(uid);
      if (other !== undefined && other !== key) return `is adopted by ${other} as well`;
      planned.set(uid, key);
      return adoptionRefusal(uid, key);
    },
    isHeld: (uid) => takers.has(uid) || kept.has(uid),
    refusal: (uid, key) => {
      if (stateUids.has(uid) && !takers.has(uid)) return "belongs to another resource of this stack";
      return adoptionRefusal(uid, key);
    },
    adoptionRefusal,
    release: (uid, own = false) => {
      if (takers.has(uid) || (adopted.has(uid) && !own)) return false;
      leaving.add(uid);
      return true;
    },
    gone: (uid) => {
      for (const uids of [stateUids, kept, adopted, leaving]) uids.delete(uid);
      owners.delete(uid);
    },
  };
};
