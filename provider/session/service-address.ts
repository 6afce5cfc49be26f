// Which service the records of a state are at. Each resource carries the address, in its inputs for a check and in its outputs
// for a refresh and a delete: a machine of CI has nothing else of the last run. A state of an earlier version carries none, and
// gets today's.

import { type Config, serviceOf } from "../../client/config.ts";
import { SessionError } from "../../client/errors.ts";
import { isLoopbackUrl, type Json } from "../../schema/index.ts";
import { SERVICE } from "../state/state.ts";

/** The service is another one than that of the state; nothing is created, changed or deleted. */
export class WrongService extends SessionError {
  override readonly name = "WrongService";
}

/** Whether the service has moved since, and somebody has confirmed it: the state is to carry the new address. */
export const isMoved = ({ baseUrl }: Pick<Config, "baseUrl">, { [SERVICE]: stored }: Json): boolean =>
  stored !== undefined && stored !== serviceOf(baseUrl);

/** Throws when the records of `stored` are at another address, unless the move is confirmed. */
export const checkAddress = (config: Pick<Config, "baseUrl" | "movedFrom">, stored: Json): void => {
  const before = stored[SERVICE] as string;
  if (isMoved(config, stored) && config.movedFrom !== before)
    throw new WrongService(otherAddress(before, serviceOf(config.baseUrl)));
};

const otherAddress = (before: string, now: string): string =>
  [
    `wrong service? The records of this stack are at ${before}, as of its last up, and this run is for ${now}. ` +
      "Nothing is created, changed or deleted.",
    `If the service has moved there with its records: pulumi config set irm:movedFrom ${before}, or for one run ` +
      `IRM_MOVED_FROM=${before} in the environment. After the next up the setting may go.`,
    "If it is another service: set the address back, or use a stack of its own (pulumi stack init NAME).",
    ...(isLoopbackUrl(now) ? [RESTARTED] : []),
  ].join("\n  - ");

/** For whom most meet: `irm serve --dev` without a database, started again. */
export const RESTARTED =
  "If it is a development server that was started again: it has its records no more unless it was started with --db FILE. " +
  "To begin anew: pulumi state delete --all, then pulumi up.";
