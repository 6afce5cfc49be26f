// The services of a command: the environment names one, and --service names others, with the credentials for them. The providers of the
// program do not count here: its author must not choose addresses that get a token.

import { repositoryAt } from "../access/base/git.ts";
import type { Origin } from "../access/review/report.ts";
import { hereIn, type IsHere, otherServiceText } from "../access/run/service.ts";
import { timeText } from "../access/text.ts";
import type { Client } from "../client/client.ts";
import { type Config, serviceOf } from "../client/config.ts";
import { readConfig } from "../client/credentials.ts";
import { redactor } from "../client/errors.ts";
import { runPreview } from "../pulumi/preview.ts";
import { addressProblem } from "../schema/index.ts";
import { clientOf, systemConfig } from "./client.ts";
import { ENGINE } from "./engine-command.ts";
import { UsageError } from "./irm-command.ts";

export const SERVICE_FLAG = [
  "--service <URL=VARIABLE>",
  "another service that the program uses, and the environment variable with a token for it; repeatable",
] as const;

/** As of a provider: baseUrl, tokenEnv, identity. */
type Settings = Readonly<Record<string, string>>;

/** `URL=VARIABLE`, or `URL=VARIABLE,VARIABLE`: a token, and the uid of the identity to assume with it. All problems at once. */
export const servicesFrom = (texts: readonly string[] = []): Settings[] => {
  const { env } = process;
  const problems: string[] = [];
  const services = texts.map((text): Settings => {
    const at = text.lastIndexOf("=");
    const [baseUrl, names] = [text.slice(0, at), text.slice(at + 1).split(",")];
    const [token = "", identity] = names;
    const problem = addressProblem(baseUrl);
    if (at < 1 || names.length > 2 || names.includes(""))
      problems.push(`${JSON.stringify(text)} is not URL=VARIABLE, such as https://irm.example.com=OTHER_IRM_TOKEN`);
    else if (problem !== undefined) problems.push(`the address before =${names.join()} ${problem}`);
    else for (const name of names) if (!env[name]) problems.push(`the environment has no ${name}`);
    return { baseUrl, tokenEnv: token, ...(identity !== undefined && { identity: env[identity] ?? "" }) };
  });
  if (problems.length > 0) throw new UsageError(problems.map((one) => `--service: ${one}`).join("\n"));
  return services;
};

/** The settings of the environment's service; undefined without one. */
const configHere = () => (process.env.IRM_BASE_URL ? systemConfig() : undefined);

/** A client of each service, by address: the environment's own first, then those of --service. Of two settings for one the first counts. */
export const clientsOf = (services: readonly Settings[], configured = configHere()): Map<string, Client> => {
  const [clients, secrets] = [new Map<string, Client>(), redactor()];
  const add = (config: Config) => void clients.set(serviceOf(config.baseUrl), clientOf(config, process.env, secrets));
  if (configured) add(configured);
  for (const settings of services) {
    const address = serviceOf(settings.baseUrl as string);
    if (clients.has(address)) continue;
    const given = { keys: Object.keys(settings).map((name) => `irm:${name}`), flag: `--service ${address}` };
    add(readConfig((key) => settings[key.replace(/^irm:/, "")], process.env, given));
  }
  // The error says which address is missing.
  if (clients.size === 0) add(systemConfig());
  return clients;
};

/** Of the service of the environment, where it names one. */
export const firstOf = (clients: ReadonlyMap<string, Client>): Client => clients.values().next().value as Client;

/** The stack, the service, the commit of this folder and the time: shared pages and comments name them. */
export const originOf = (stack: string | undefined, service: string, nowMs: number): Origin => ({
  ...(stack !== undefined && { stack }),
  service,
  ...commitHere(),
  time: timeText(nowMs),
});

const commitHere = (): Pick<Origin, "commit" | "isModified"> => {
  try {
    const repository = repositoryAt(process.cwd());
    const commit = repository.commitOf("HEAD");
    return commit === undefined ? {} : { commit, ...(repository.isModified() && { isModified: true }) };
  } catch {
    // Without git or a repository, a review has no commit.
    return {};
  }
};

// The preview of a command, and a client of each service in it.

export type Previewed = Awaited<ReturnType<typeof previewHere>>;

/** Runs the program in the folder `cwd`. */
export const previewHere = async (
  { cwd, stack, services }: { cwd: string; stack?: string | undefined; services: readonly Settings[] },
  options?: Parameters<typeof runPreview>[3],
) => {
  const config = configHere();
  const preview = await runPreview(ENGINE, cwd, stack, options);
  const addresses = services.map(({ baseUrl = "" }) => serviceOf(baseUrl));
  const other = otherServiceText(preview, config, addresses);
  if (other !== undefined) throw new UsageError(other);
  const clients = clientsOf(services, config);
  return {
    preview,
    /** by address, at least one: the first is the service of the environment, if it names one */
    clients,
    /** The resources that count at an address: all of them, if there is only one. */
    hereAt: (address: string): IsHere => (clients.size === 1 ? () => true : hereIn(preview, address, config)),
  };
};
