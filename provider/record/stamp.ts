// When a check made a resource new, as its inputs carry it: in few characters, since every state repeats them. The engine keeps the inputs of
// a create that it has begun with its pending operation, and nothing else there says when that was.
import { AT } from "../../client/preview-marks.ts";
import type { Json } from "../../schema/index.ts";

export interface Stamp {
  /** milliseconds by the service's clock, at most about a second early */
  at: number;
  /** the same by the clock of the machine, which the engine notes its runs by */
  startedAt: number;
}

const SECOND_MS = 1_000;
const UNIT_MS = 100;

/** `tkqz5n1`; of a machine whose clock is a minute ahead of the service's: `tkqz5n1.1o`. */
export const stampText = ({ at, startedAt }: Stamp): string => {
  const aheadS = Math.round((startedAt - at) / SECOND_MS);
  const text = Math.floor(at / UNIT_MS).toString(36);
  // The clocks of two machines may differ by so much, and neither is wrong.
  return Math.abs(aheadS) <= 1 ? text : `${text}.${aheadS.toString(36)}`;
};

/** Of the inputs of a resource; undefined where another version has written them. */
export const stampIn = ({ [AT]: text }: Json): Stamp | undefined => {
  const stamp = stampTextIn({ [AT]: text });
  const [, time, ahead = "0"] = /^([0-9a-z]{1,9})(?:\.(-?[0-9a-z]{1,8}))?$/.exec(stamp ?? "") ?? [];
  if (time === undefined) return undefined;
  const at = Number.parseInt(time, 36) * UNIT_MS;
  return { at, startedAt: at + Number.parseInt(ahead, 36) * SECOND_MS };
};

export const stampTextIn = ({ [AT]: text }: Json): string | undefined =>
  typeof text === "string" ? text.split(" ")[1] : undefined;

/** The input of a resource at this address. */
export const atWith = (service: string, stamp: string): Json => ({ [AT]: `${service} ${stamp}` });
