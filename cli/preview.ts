// A preview that a command runs. And a client of each service that the preview is about.

import { hereIn, type IsHere, otherServiceText } from "../access/run/service.ts";
import type { Client } from "../client/client.ts";
import { serviceOf } from "../client/config.ts";
import { type Preview, runPreview } from "../pulumi/preview.ts";
import { ENGINE } from "./engine-command.ts";
import { clientsOf, configHere, type servicesFrom } from "./services.ts";
import { UsageError } from "./usage.ts";

export interface Previewed {
  preview: Preview;
  /** by address, at least one: the first is the service of the environment, where it names one */
  clients: ReadonlyMap<string, Client>;
  /** Which resources count at an address; of a single one, all. */
  hereAt(address: string): IsHere;
}

interface Program {
  /** folder of the program */
  cwd: string;
  stack?: string | undefined;
  services: ReturnType<typeof servicesFrom>;
}

/** Runs the program. */
export const previewHere = async (
  { cwd, stack, services }: Program,
  options?: Parameters<typeof runPreview>[3],
): Promise<Previewed> => {
  const config = configHere();
  const preview = await runPreview(ENGINE, cwd, stack, options);
  const addresses = services.map(({ baseUrl = "" }) => serviceOf(baseUrl));
  const other = otherServiceText(preview, config, addresses);
  if (other !== undefined) throw new UsageError(other);
  const clients = clientsOf(config, services);
  const isHere = clients.size === 1 ? () => () => true : (address: string) => hereIn(preview, address, config);
  return { preview, clients, hereAt: isHere };
};
