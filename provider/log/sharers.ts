// Which processes of an operation hold the lock of a journal, by the order in which they say so: the last one removes the file.

export type Event =
  | { is: "waits" }
  /** the file is there, and what must happen first has happened */
  | { is: "opened" }
  /** another run has taken over what was opened as the nth time */
  | { is: "lost"; opened: number }
  | { is: "ended"; members: readonly string[] }
  | { is: "removed" };

export interface Sharers {
  reduce(event: Event, member: string): boolean;
  /** processes that hold the lock, or wait for it */
  holders: ReadonlySet<string>;
  /** how often it was opened; undefined while none of them has created the file */
  opened(): number | undefined;
  /** the process that is removing the file */
  removing(): string | undefined;
}

export const createSharers = (): Sharers => {
  const holders = new Set<string>();
  let isOpen = false;
  let opened = 0;
  let removing: string | undefined;
  /** Returns whether the file is to be removed by the process whose event this is. */
  const reduce = (event: Event, member: string): boolean => {
    if (event.is === "waits") holders.add(member);
    else if (event.is === "removed") removing = undefined;
    else if (event.is === "opened") {
      isOpen = true;
      opened += 1;
    } else if (event.is === "lost") isOpen = isOpen && event.opened !== opened;
    else if (event.is === "ended") {
      for (const one of event.members) holders.delete(one);
      if (!isOpen || holders.size > 0) return false;
      isOpen = false;
      removing = member;
      return true;
    }
    return false;
  };
  return { reduce, holders, opened: () => (isOpen ? opened : undefined), removing: () => removing };
};
