// A preview belongs to the services of its providers. Compared with the records of another one it would be nonsense.
import { type Config, serviceOf } from "../../client/config.ts";
import { SERVICE } from "../../client/preview-marks.ts";
import { type Preview, PreviewError } from "./shape.ts";
import { ourTypeOf } from "./urn.ts";

/** Throws when records of the preview are at an address that is not asked about, unless the move is confirmed as for a run. */
export const checkService = (
  { steps }: Preview,
  { baseUrl, movedFrom }: Pick<Config, "baseUrl" | "movedFrom">,
  further: Iterable<string> = [],
): void => {
  const own = serviceOf(baseUrl);
  const asked = new Set([own, movedFrom, ...further]);
  const others = steps
    .filter(({ urn }) => ourTypeOf(urn) !== undefined)
    .flatMap(({ oldState, newState }) => [oldState, newState].flatMap((one) => [one?.inputs, one?.outputs]))
    .map((bag) => bag?.[SERVICE])
    .filter((address): address is string => typeof address === "string" && !asked.has(address));
  const [other] = others;
  if (other === undefined) return;
  throw new PreviewError(
    `the preview is of the service at ${other}, and IRM_BASE_URL names ${own}. Set IRM_BASE_URL to the service of the stack; if the service has moved, set IRM_MOVED_FROM=${other} too; if the program has both, give --service ${other}=VARIABLE, an environment variable with a token for it`,
  );
};
