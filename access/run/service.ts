// A preview belongs to the services of its providers. A comparison with the records of another service would be meaningless, so each step
// counts only at its own service.

import { type Config, serviceOf } from "../../client/config.ts";
import { serviceIn } from "../../client/preview-marks.ts";
import type { Preview, Step } from "../../pulumi/preview.ts";
import { ourTypeOf } from "../../pulumi/urn.ts";
import { getOrInsert } from "../../schema/index.ts";

type Environment = Pick<Config, "baseUrl" | "movedFrom"> | undefined;

/** Why records of the preview are at an address that is not queried, unless the move is confirmed as for a run. */
export const otherServiceText = (
  { steps }: Preview,
  environment: Environment,
  services: Iterable<string> = [],
): string | undefined => {
  const current = environment && serviceOf(environment.baseUrl);
  const asked = new Set([current, environment?.movedFrom, ...services]);
  const other = steps.flatMap(addressesOf).find((address) => !asked.has(address));
  if (other === undefined) return undefined;
  const flag = `--service ${other}=VARIABLE, an environment variable with a token for it`;
  return current === undefined
    ? `the preview is of the service at ${other}, and neither IRM_BASE_URL nor --service names it. Give ${flag}`
    : `the preview is of the service at ${other}, and IRM_BASE_URL names ${current}. Set IRM_BASE_URL to the service of the stack; if the service has moved, set IRM_MOVED_FROM=${other} too; if the program has both, give ${flag}`;
};

/** The addresses of the record of a step, by the state and the program. */
const addressesOf = ({ urn, oldState, newState }: Step) =>
  ourTypeOf(urn) === undefined
    ? []
    : [oldState, newState].flatMap((one) => [one?.inputs, one?.outputs]).flatMap((bag) => serviceIn(bag ?? {}) ?? []);

/** Whether a resource, by its URN, counts at a service. A resource without an address counts at each. */
export type IsHere = (urn: string) => boolean;

/** Which resources count at one of several services; with a single one, the whole preview belongs to it. */
export const hereIn = ({ steps }: Preview, service: string, environment: Environment): IsHere => {
  const [current, former] = [environment && serviceOf(environment.baseUrl), environment?.movedFrom];
  const places = new Map<string, Set<string>>();
  for (const step of steps)
    for (const address of addressesOf(step)) {
      const own = getOrInsert(places, step.urn, () => new Set());
      own.add(address === former && current !== undefined ? current : address);
    }
  return (urn) => places.get(urn)?.has(service) ?? true;
};
