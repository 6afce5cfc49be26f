// A preview that a command reads: one that it runs here, or a saved one. And a client of each service that the preview is about.
import { readFileSync } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { runPreview } from "../access/preview/run-preview.ts";
import { checkService } from "../access/preview/service.ts";
import { type Preview, PreviewError, parsePreview } from "../access/preview/shape.ts";
import type { Client } from "../client/client.ts";
import { systemConfig } from "./client.ts";
import { engineCommand } from "./engine-command.ts";
import { clientsOf, providersIn, type servicesFrom } from "./services.ts";

type Services = ReturnType<typeof servicesFrom>;

export interface Previewed {
  preview: Preview;
  /** by address, at least one: the first is the service of the environment, where it names one */
  clients: ReadonlyMap<string, Client>;
}

/** Runs the program of this folder. Its explicit providers name their own services and credentials. `env` adds to its environment, and `more` to the engine's arguments. */
export const previewHere = async (
  stack: string | undefined,
  services: Services,
  env?: NodeJS.ProcessEnv,
  more?: readonly string[],
): Promise<Previewed> => {
  const config = process.env.IRM_BASE_URL ? systemConfig() : undefined;
  const preview = await runPreview(engineCommand(), stack, env, more);
  return checked(preview, config, clientsOf(config, services, providersIn(preview)));
};

/** A saved preview may come from anyone: what it names gets no token of this environment. */
export const savedPreview = async (file: string, services: Services): Promise<Previewed> => {
  const config = process.env.IRM_BASE_URL || services.length === 0 ? systemConfig() : undefined;
  const preview = parsePreview(await readPreview(file), file === "-" ? "stdin" : file);
  return checked(preview, config, clientsOf(config, services));
};

const checked = (
  preview: Preview,
  config: Parameters<typeof checkService>[1],
  clients: ReadonlyMap<string, Client>,
): Previewed => {
  checkService(preview, config, clients.keys());
  return { preview, clients };
};

const readPreview = async (file: string): Promise<string> => {
  try {
    return file === "-" ? await textOf(process.stdin) : readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new PreviewError(code === "ENOENT" ? `there is no file ${file}` : `cannot read the preview: ${message}`);
  }
};
