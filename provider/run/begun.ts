// What the processes of a run share about the journal: which creates it has begun, and what one of them has reported for all.
import type { Operation } from "./operation.ts";

type Event =
  | { is: "begun"; ids: readonly string[] }
  | { is: "reported"; id: string }
  | { is: "opened"; path: string; isNew: boolean };

export interface Run {
  /** The entries with these ids are of this run, from before they are written. */
  begin(ids: readonly string[]): void;
  /** ids of the entries of this run */
  begun(): ReadonlySet<string>;
  /** False when a process of this run has reported the entry, or the invalid line with this hash, before. */
  reports(id: string): boolean;
  /** A process has opened the journal. Returns whether there was none when the first one did. */
  isNew(path: string, isNew: boolean): boolean;
}

export const createRun = (operation: Operation): Run => {
  const begun = new Set<string>();
  const reported = new Set<string>();
  const opened = new Map<string, boolean>();
  const reduce = (event: Event): boolean => {
    if (event.is === "begun") for (const id of event.ids) begun.add(id);
    else if (event.is === "reported") {
      const isFirst = !reported.has(event.id);
      reported.add(event.id);
      return isFirst;
    } else if (event.is === "opened") {
      const isNew = opened.get(event.path) ?? event.isNew;
      opened.set(event.path, isNew);
      return isNew;
    }
    return true;
  };
  const { append, refresh } = operation.share("journal", reduce);
  return {
    begin: (ids) => void append({ is: "begun", ids }),
    begun: () => {
      refresh?.();
      return begun;
    },
    reports: (id) => append({ is: "reported", id }),
    isNew: (path, isNew) => append({ is: "opened", path, isNew }),
  };
};
