// A run on twins: `irm review` starts the engine, and all our requests go to copies of the services in its process (cli/run/). Addresses and settings stay as they
// are: only below them, the transport connects elsewhere. IRM_TWINS names a file of the command, and every output says so.
import { appendFileSync, lstatSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { isLoopbackUrl, LOOPBACK_NAMES } from "../schema/index.ts";
import type { Env } from "./env.ts";
import { ConfigError } from "./errors.ts";
import type { Transport } from "./transport.ts";

/** The variable that names the file. */
export const TWINS = "IRM_TWINS";

export const TWINS_FILE = "twins.json";

/** Beside it: a line for each request to a service that has no twin. */
export const ELSEWHERE_FILE = "elsewhere";

const Twins = z.strictObject({
  /** the process of the command */
  pid: z.number(),
  /** folder of the journals */
  journal: z.string(),
  services: z.array(
    z.strictObject({
      /** of the service, in the spelling of `serviceOf` */
      address: z.string(),
      /** of its twin */
      url: z.string().refine(isLoopbackUrl, "must be on loopback"),
      /** the twin's token of the identity that will apply the program */
      token: z.string(),
    }),
  ),
});
export type Twins = z.infer<typeof Twins>;

/** The problem is one sentence, and then nothing is sent. */
type Found = { twins: Twins; folder: string } | { problem: string } | undefined;

const found = new Map<string, Found>();

/** Undefined in a run on the service. */
export const twinsIn = ({ [TWINS]: file }: Env): Found => {
  if (!file) return undefined;
  const known = found.get(file) ?? readTwins(file);
  found.set(file, known);
  return known;
};

const UNSET = `only npx pulumi-irm review sets ${TWINS}: unset it`;

const readTwins = (file: string): Found => {
  if (!isAbsolute(file)) return { problem: `environment ${TWINS}: must be an absolute path; ${UNSET}` };
  try {
    const { mode, uid } = lstatSync(file);
    if ((mode & 0o077) !== 0 || uid !== (process.getuid?.() ?? uid))
      return { problem: `environment ${TWINS}: others have access to the file; ${UNSET}` };
    const { data } = Twins.safeParse(JSON.parse(readFileSync(file, "utf8")));
    if (!data) return { problem: `environment ${TWINS}: the file is not one of this version; ${UNSET}` };
    return isRunning(data.pid)
      ? { twins: data, folder: dirname(file) }
      : { problem: `environment ${TWINS}: that review has ended; ${UNSET}` };
  } catch {
    // Without the text of the error, which may quote the file.
    return { problem: `environment ${TWINS}: names a file that cannot be read; ${UNSET}` };
  }
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Says that this is none of the runs that change something. Undefined in a run on the service. */
export const twinsNotice = (env: Env): string | undefined => {
  const one = twinsIn(env);
  if (!one || "problem" in one) return undefined;
  const twins = one.twins.services.map(({ address, url }) => `${address} is its twin at ${url}`).join(", ");
  return `this run is part of a review, and changes nothing: ${twins}`;
};

/** The twin of a service. A service that has none is noted, so that the review fails. */
export const twinOf = (env: Env, address: string): Twins["services"][number] | undefined => {
  const one = twinsIn(env);
  if (!one || "problem" in one) return undefined;
  const twin = one.twins.services.find((service) => isBelow(service.address, new URL(address)));
  if (!twin) appendFileSync(join(one.folder, ELSEWHERE_FILE), `${new URL(address).origin}\n`, { mode: 0o600 });
  return twin;
};

export const noTwinText = (address: string): string =>
  `this run is part of a review, and ${new URL(address).origin} is not the service that it has copied; nothing is sent there`;

/** Connects to the twin of the service that a request is for, and refuses every other one. The same transport in a run on the service. */
export const onTwins = (transport: Transport, env: Env): Transport => {
  const one = twinsIn(env);
  if (!one) return transport;
  return async (request) => {
    if ("problem" in one) throw new ConfigError([one.problem]);
    const twin = twinOf(env, request.url.href);
    if (!twin) throw new ConfigError([noTwinText(request.url.href)]);
    const url = new URL(twin.url);
    url.pathname = request.url.pathname.slice(pathOf(new URL(twin.address)).length);
    url.search = request.url.search;
    return transport({ ...request, url });
  };
};

const isBelow = (address: string, { protocol, hostname, port, pathname }: URL): boolean => {
  const service = new URL(address);
  const host = LOOPBACK_NAMES.includes(hostname) ? "127.0.0.1" : hostname;
  const isSame = service.protocol === protocol && service.hostname === host && service.port === port;
  return isSame && `${pathname}/`.startsWith(`${pathOf(service)}/`);
};

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/$/, "");
