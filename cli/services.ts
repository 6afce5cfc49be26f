// The services of a command: the environment names one, and --service names others, with the credentials for them. What the program says
// of its providers counts for nothing here: its author must not choose which addresses are read and get a token.

import { repositoryAt } from "../access/base/git.ts";
import type { Origin } from "../access/review/report.ts";
import { timeText } from "../access/text.ts";
import type { Client } from "../client/client.ts";
import { type Config, serviceOf } from "../client/config.ts";
import { readConfig } from "../client/credentials.ts";
import { redactor } from "../client/errors.ts";
import { addressProblem } from "../schema/index.ts";
import { clientOf, systemConfig } from "./client.ts";
import { UsageError } from "./usage.ts";

export const SERVICE_FLAG = [
  "--service <URL=VARIABLE>",
  "a further service of the program, and the environment variable with a token for it; repeatable",
] as const;

/** As of a provider: baseUrl, tokenEnv, identity. */
type Settings = Readonly<Record<string, string>>;

/** `URL=VARIABLE`, or `URL=VARIABLE,VARIABLE`: a token, and the uid of the identity to assume with it. All problems at once. */
export const servicesFrom = (texts: readonly string[], env: NodeJS.ProcessEnv): Settings[] => {
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

/** What the environment says of its service; undefined where it names none. */
export const configHere = (): Config | undefined => (process.env.IRM_BASE_URL ? systemConfig() : undefined);

/** A client of each service, by address: the environment's own first, then those of --service. Of two settings for one the first counts. */
export const clientsOf = (configured: Config | undefined, services: readonly Settings[]): Map<string, Client> => {
  const [clients, secrets] = [new Map<string, Client>(), redactor()];
  const add = (config: Config): void =>
    void clients.set(serviceOf(config.baseUrl), clientOf(config, process.env, secrets));
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

// What a review describes: the stack, the service, the commit and the time. A page or a comment that readers share names them.

interface OriginParts {
  stack: string | undefined;
  service: string;
  /** of the program or the policy */
  folder: string;
  nowMs: number;
}

export const originOf = ({ stack, service, folder, nowMs }: OriginParts): Origin => ({
  ...(stack !== undefined && { stack }),
  service,
  ...commitIn(folder),
  time: timeText(nowMs),
});

const commitIn = (folder: string): Pick<Origin, "commit" | "isModified"> => {
  try {
    const repository = repositoryAt(folder);
    const commit = repository.commitOf("HEAD");
    return commit === undefined ? {} : { commit, ...(repository.isModified() && { isModified: true }) };
  } catch {
    // Without git or a repository, a review has no commit.
    return {};
  }
};
