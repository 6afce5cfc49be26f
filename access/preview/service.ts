// A preview belongs to the services of its providers. Compared with the records of another one it would be nonsense.
import { type Config, serviceOf } from "../../client/config.ts";
import { serviceIn } from "../../client/preview-marks.ts";
import { type Preview, PreviewError } from "./shape.ts";
import { ourTypeOf } from "./urn.ts";

/** Throws when records of the preview are at an address that is not asked about, unless the move is confirmed as for a run. */
export const checkService = (
  { steps }: Preview,
  environment: Pick<Config, "baseUrl" | "movedFrom"> | undefined,
  services: Iterable<string> = [],
): void => {
  const current = environment && serviceOf(environment.baseUrl);
  const asked = new Set([current, environment?.movedFrom, ...services]);
  const others = steps
    .filter(({ urn }) => ourTypeOf(urn) !== undefined)
    .flatMap(({ oldState, newState }) => [oldState, newState].flatMap((one) => [one?.inputs, one?.outputs]))
    .map((bag) => serviceIn(bag ?? {}))
    .filter((address) => address !== undefined && !asked.has(address));
  const [other] = others;
  if (other === undefined) return;
  const flag = `--service ${other}=VARIABLE, an environment variable with a token for it`;
  throw new PreviewError(
    current === undefined
      ? `the preview is of the service at ${other}, and neither IRM_BASE_URL nor --service names it. Give ${flag}`
      : `the preview is of the service at ${other}, and IRM_BASE_URL names ${current}. Set IRM_BASE_URL to the service of the stack; if the service has moved, set IRM_MOVED_FROM=${other} too; if the program has both, give ${flag}`,
  );
};
