// A run that a command of ours starts. `irm review` sends all our requests to copies of the services in its own process (cli/run/); `irm
// apply` sends them to its gates (gate/). Addresses and settings stay as they are: only below them, the transport connects elsewhere. IRM_RUN
// names a file of the command, and every output says so.
import { appendFileSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { getOrInsert, isLoopbackUrl } from "../schema/index.ts";
import { type Env, serviceOf } from "./addresses.ts";
import { ConfigError } from "./errors.ts";
import type { Transport } from "./transport.ts";

/** The variable that names the file. */
export const RUN = "IRM_RUN";

export const RUN_FILE = "run.json";

/** Beside it: a line for each request to another service. */
export const ELSEWHERE_FILE = "elsewhere";

const shared = {
  /** the process of the command */
  pid: z.number(),
  services: z.array(
    z.strictObject({
      /** of the service, in the spelling of `serviceOf` */
      address: z.string(),
      /** of its copy, or of its gate */
      url: z.string().refine(isLoopbackUrl, "must be on loopback"),
      /** for that URL alone; its subject is the identity that applies the program */
      token: z.string(),
    }),
  ),
  /** Uids of the records that the change removes, of a run that must bring no other change. */
  removes: z.array(z.string()).optional(),
};
const RunFile = z.discriminatedUnion("kind", [
  /** `journal`: folder of the journals */
  z.strictObject({ kind: z.literal("review"), ...shared, journal: z.string() }),
  /** With the journal and the settings of the stack. */
  z.strictObject({ kind: z.literal("apply"), ...shared }),
]);
export type RunFile = z.infer<typeof RunFile>;
type Service = RunFile["services"][number];

/** The problem is one sentence, and then nothing is sent. */
type Found = { run: RunFile; folder: string; problem?: undefined } | { problem: string; run?: undefined } | undefined;

const found = new Map<string, Found>();

/** Undefined in a run that no command of ours has started. */
export const runIn = ({ [RUN]: file }: Env): Found => {
  if (!file) return undefined;
  return getOrInsert(found, file, () => readRunFile(file));
};

/** Whether nothing of the run reaches a service. */
export const isOnTwins = (env: Env): boolean => runIn(env)?.run?.kind === "review";

/**
 * Whether the run may remove a record that the program does not declare. An exclusive set removes in its second update what the first one has
 * found. For a change that is applied in two runs, that would be another change.
 */
export const mayRemove = (env: Env, uid: string): boolean => runIn(env)?.run?.removes?.includes(uid) ?? true;

/** Writes the file into a folder of this user alone. Returns its path, for the variable. */
export const writeRunFile = (folder: string, run: RunFile): string => {
  const file = join(folder, RUN_FILE);
  writeFileSync(file, JSON.stringify(run), { mode: 0o600 });
  return file;
};

/** Origins of services that the run has no URL for, and that a request was for. */
export const readElsewhere = (folder: string): string[] => {
  try {
    return [...new Set(readFileSync(join(folder, ELSEWHERE_FILE), "utf8").split("\n").filter(Boolean))];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
};

const UNSET = `only npx pulumi-irm review and npx pulumi-irm apply set ${RUN}: unset it`;

const readRunFile = (file: string): Found => {
  if (!isAbsolute(file)) return { problem: `environment ${RUN}: must be an absolute path; ${UNSET}` };
  try {
    const { mode, uid } = lstatSync(file);
    if ((mode & 0o077) !== 0 || uid !== (process.getuid?.() ?? uid))
      return { problem: `environment ${RUN}: others have access to the file; ${UNSET}` };
    const { data } = RunFile.safeParse(JSON.parse(readFileSync(file, "utf8")));
    if (!data) return { problem: `environment ${RUN}: the file is not one of this version; ${UNSET}` };
    return isRunning(data.pid)
      ? { run: data, folder: dirname(file) }
      : { problem: `environment ${RUN}: that ${data.kind} has ended; ${UNSET}` };
  } catch {
    // Without the text of the error, which may quote the file.
    return { problem: `environment ${RUN}: names a file that cannot be read; ${UNSET}` };
  }
};

/** The command may be of another user (docs/change.md#user). */
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Says that this is none of the usual runs. */
export const runNotice = ({ kind, services }: RunFile): string => {
  if (kind === "apply") return "this run goes through the gate of npx pulumi-irm apply";
  const twins = services.map(({ address, url }) => `${address} is its twin at ${url}`).join(", ");
  return `this run is part of a review, and changes nothing: ${twins}`;
};

/** Where the requests for a service go. One that the run does not have is noted, so that the command fails, and is the problem. */
export const serviceIn = (
  { run, folder }: Extract<Found, { run: RunFile }>,
  address: string,
): Service | { problem: string } => {
  const service = run.services.find((one) => `${serviceOf(address)}/`.startsWith(`${one.address}/`));
  if (service) return service;
  const { origin } = new URL(address);
  appendFileSync(join(folder, ELSEWHERE_FILE), `${origin}\n`, { mode: 0o600 });
  const [what, served] =
    run.kind === "review"
      ? ["is part of a review", "it has copied"]
      : ["goes through the gate of npx pulumi-irm apply", "it applies a change to"];
  return { problem: `this run ${what}, and ${origin} is not the service that ${served}; nothing is sent there` };
};

/** Connects to the copy or the gate of the service that a request is for, and refuses every other one. In any other run, the same transport. */
export const inRun = (transport: Transport, env: Env): Transport => {
  const one = runIn(env);
  if (!one) return transport;
  return async (request) => {
    if (one.problem !== undefined) throw new ConfigError([one.problem]);
    const service = serviceIn(one, request.url.href);
    if ("problem" in service) throw new ConfigError([service.problem]);
    const url = new URL(service.url);
    url.pathname = request.url.pathname.slice(new URL(service.address).pathname.replace(/\/$/, "").length);
    url.search = request.url.search;
    // The gate waits for the service as long as its own client does, and then looks for what a lost answer was about.
    const timeoutMs = one.run.kind === "apply" ? request.timeoutMs + GATE_MS : request.timeoutMs;
    return transport({ ...request, url, timeoutMs });
  };
};

const GATE_MS = 120_000;
