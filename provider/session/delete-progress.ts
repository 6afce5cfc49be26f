// The deletes of this process, told to those that wait for them: a group waits for what is inside it, a role for what
// binds it. Polling alone would learn it late.
import { isAncestor } from "../../schema/index.ts";

export interface Deletes {
  /** a record is gone; `released` are uids that it referred to */
  finished(uid: string, released?: readonly string[]): void;
  /** how many deletes have finished below `uid`, or of records that referred to it */
  countFor(uid: string): number;
  /** resolves when the next one finishes */
  next(): Promise<void>;
}

export const deletes = (): Deletes => {
  const gone: { uid: string; released: readonly string[] }[] = [];
  let waiting = Promise.withResolvers<void>();
  return {
    finished(uid, released = []) {
      gone.push({ uid, released });
      const woken = waiting;
      waiting = Promise.withResolvers<void>();
      woken.resolve();
    },
    countFor: (uid) => gone.filter((one) => isAncestor(uid, one.uid) || one.released.includes(uid)).length,
    next: () => waiting.promise,
  };
};
