// A preview that a command reads: one that it runs here, or a saved one. And a client of each service that the preview is about.
import { readFileSync } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { runPreview } from "../access/preview/run-preview.ts";
import { hereIn, type IsHere, otherServiceText } from "../access/preview/service.ts";
import { type Preview, PreviewError, parsePreview } from "../access/preview/shape.ts";
import type { Client } from "../client/client.ts";
import { type Config, serviceOf } from "../client/config.ts";
import { systemConfig } from "./client.ts";
import { engineCommand } from "./engine-command.ts";
import { clientsOf, type servicesFrom } from "./services.ts";
import { UsageError } from "./usage.ts";

type Services = ReturnType<typeof servicesFrom>;

export interface Previewed {
  preview: Preview;
  /** by address, at least one: the first is the service of the environment, where it names one */
  clients: ReadonlyMap<string, Client>;
  /** Which resources count at an address; undefined: all, since it is the only one. */
  hereAt(address: string): IsHere | undefined;
}

/** Runs the program of this folder. `env` adds to its environment, and `more` to the engine's arguments. */
export const previewHere = async (
  stack: string | undefined,
  services: Services,
  env?: NodeJS.ProcessEnv,
  more?: readonly string[],
): Promise<Previewed> => {
  const config = process.env.IRM_BASE_URL ? systemConfig() : undefined;
  return checked(await runPreview(engineCommand(), stack, env, more), config, services);
};

export const savedPreview = async (file: string, services: Services): Promise<Previewed> => {
  const config = process.env.IRM_BASE_URL || services.length === 0 ? systemConfig() : undefined;
  const preview = parsePreview(await readPreview(file), file === "-" ? "stdin" : file);
  return checked(preview, config, services);
};

const checked = (preview: Preview, config: Config | undefined, services: Services): Previewed => {
  const addresses = services.map(({ baseUrl = "" }) => serviceOf(baseUrl));
  const other = otherServiceText(preview, config, addresses);
  if (other !== undefined) throw new UsageError(other);
  const clients = clientsOf(config, services);
  const isHere = clients.size === 1 ? () => undefined : (address: string) => hereIn(preview, address, config);
  return { preview, clients, hereAt: isHere };
};

const readPreview = async (file: string): Promise<string> => {
  try {
    return file === "-" ? await textOf(process.stdin) : readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new PreviewError(code === "ENOENT" ? `there is no file ${file}` : `cannot read the preview: ${message}`);
  }
};
