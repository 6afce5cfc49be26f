// A bounded number of fetches at a time, shared fairly between organisations: when all places are taken, the organisation
// that holds the most gives up its oldest one. So issuers that never answer cost other organisations nothing.
import { refusal } from "../refusal.ts";

export interface Place {
  /** aborted when the place is given to another organisation */
  signal: AbortSignal;
  isTaken(): boolean;
  release(): void;
}

interface Holder {
  owner: string;
  controller: AbortController;
}

/** `count` places. */
export const createPlaces = (count: number) => {
  // A Set keeps the order of insertion: the first one has waited longest.
  const taken = new Set<Holder>();
  const countOf = (owner: string) => [...taken].filter((holder) => holder.owner === owner).length;

  // Nothing is gained by giving a place to an organisation that would then hold as many; but each can have one.
  const makeRoom = (owner: string): void => {
    const [first, ...others] = [...taken] as [Holder, ...Holder[]];
    const crowded = others.reduce((most, next) => (countOf(next.owner) > countOf(most.owner) ? next : most), first);
    const own = countOf(owner);
    if (own > 0 && own + 1 >= countOf(crowded.owner)) throw refusal("document", "too many issuers are being asked");
    taken.delete(crowded);
    crowded.controller.abort(new TypeError("gave way to an issuer of another organization"));
  };

  return {
    /** A place for one of `owners`, whichever holds the fewest. */
    take(owners: readonly string[]): Place {
      const owner = owners.reduce((least, next) => (countOf(next) < countOf(least) ? next : least), owners[0] ?? "");
      if (taken.size >= count) makeRoom(owner);
      const holder: Holder = { owner, controller: new AbortController() };
      taken.add(holder);
      return {
        signal: holder.controller.signal,
        isTaken: () => taken.has(holder),
        release: () => void taken.delete(holder),
      };
    },
  };
};
