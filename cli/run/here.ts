// The run of the program of a folder on twins: its flags, and its end.
import { isUidp, UserError } from "../../schema/index.ts";
import { untilInterrupted } from "../interrupt.ts";
import { UsageError } from "../usage.ts";

/** Throws UsageError. */
export const checkActor = (as: string | undefined): void => {
  if (as !== undefined && !isUidp(as)) throw new UsageError(`--as: ${JSON.stringify(as)} is not a uid`);
};

/** A preview and its run, which ^C ends. */
export const untilStopped = <T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const reason = new UserError("it was interrupted; nothing was changed, and nothing is left of the review");
  return untilInterrupted(reason, act, "ending the run on a copy");
};
