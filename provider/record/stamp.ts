// The time at which a check made a resource new, as its inputs carry it: few characters, since every state repeats them. The engine keeps
// the inputs of a create that it began with its pending operation, and nothing else there says when that was.

/** Added by the check to the inputs of a new resource, and kept as it is from then on. */
export const AT = "__at";

export interface Stamp {
  /** milliseconds by the service's clock, at most about a second early */
  at: number;
  /** the same by the clock of the machine, which the engine notes its runs by: to the second */
  startedAt: number;
}

const SECOND_MS = 1_000;

/** `mgx3k2a1`; of a machine whose clock is a minute ahead of the service's: `mgx3k2a1.1o`. */
export const stampText = ({ at, startedAt }: Stamp): string => {
  const aheadS = Math.round((startedAt - at) / SECOND_MS);
  // What the clocks of two machines differ by is no error of either.
  return Math.abs(aheadS) <= 1 ? base36(at) : `${base36(at)}.${base36(aheadS)}`;
};

/** Undefined for anything else: of a state that an earlier version wrote. */
export const stampFrom = (text: unknown): Stamp | undefined => {
  const [, time, ahead = "0"] =
    (typeof text === "string" && /^([0-9a-z]{8,9})(?:\.(-?[0-9a-z]{1,8}))?$/.exec(text)) || [];
  if (time === undefined) return undefined;
  const at = Number.parseInt(time, 36);
  return { at, startedAt: at + Number.parseInt(ahead, 36) * SECOND_MS };
};

const base36 = (value: number): string => Math.round(value).toString(36);
