// Whose a uid is, in this process: one uid belongs to one resource, what this run has taken it does not delete, and what it
// deletes nobody takes.

export interface Claims {
  /** The engine has asked for this record: a resource of its state has it. */
  inState(uid: string): void;
  /** A resource takes the record. Throws where it is another's, or is being deleted. */
  take(uid: string, key: string): void;
  /** This run has made or taken the record. */
  isTaken(uid: string): boolean;
  /** Why `key` must not take the record; undefined when it may. */
  refusal(uid: string, key: string): string | undefined;
  /** This run is about to delete the record; false when this run has taken it. */
  release(uid: string): boolean;
}

export const createClaims = (): Claims => {
  const stateUids = new Set<string>();
  const takers = new Map<string, string>();
  const leaving = new Set<string>();

  const refusal = (uid: string, key: string): string | undefined => {
    if (leaving.has(uid)) return "is being deleted by this run";
    const taker = takers.get(uid);
    if (taker !== undefined && taker !== key) return `belongs to ${taker}`;
    if (taker === undefined && stateUids.has(uid)) return "belongs to another resource of this stack";
    return undefined;
  };

  return {
    inState: (uid) => void stateUids.add(uid),
    isTaken: (uid) => takers.has(uid),
    refusal,
    take: (uid, key) => {
      const reason = refusal(uid, key);
      if (reason) throw new Error(`${uid} ${reason}`);
      takers.set(uid, key);
    },
    release: (uid) => {
      if (takers.has(uid)) return false;
      leaving.add(uid);
      return true;
    },
  };
};
