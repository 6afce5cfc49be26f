// Bounds concurrent fetches, with fair shares for organizations: at the limit, the organization with the most fetches gives
// up its oldest one. So issuers that never respond cost other organizations nothing.
import { refusal } from "../token/refusal.ts";

export interface Place {
  /** aborts when another organization takes the place */
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

  // An organization that would then hold as many gains nothing by a swap. But each can have one place.
  const makeRoom = (owner: string): void => {
    const [first, ...others] = [...taken] as [Holder, ...Holder[]];
    const crowded = others.reduce((most, next) => (countOf(next.owner) > countOf(most.owner) ? next : most), first);
    const held = countOf(owner);
    if (held > 0 && held + 1 >= countOf(crowded.owner)) throw refusal("document", "too many issuers are being asked");
    taken.delete(crowded);
    crowded.controller.abort(new TypeError("gave way to an issuer of another organization"));
  };

  return {
    /** A place for the one of `owners` that holds the fewest. */
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
