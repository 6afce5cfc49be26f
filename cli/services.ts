// The services of a review: the environment names one, and explicit providers name others. --service names credentials for them. Where
// this command has run the program, it uses the credentials of the program's providers as well: the program has them anyway.

import { newGraph } from "../access/graph/graph.ts";
import { type Live, readLive } from "../access/graph/live.ts";
import type { Preview } from "../access/preview/shape.ts";
import { partsOfUrn } from "../access/preview/urn.ts";
import { valuesIn } from "../access/preview/value.ts";
import { addressConflicts } from "../client/addresses.ts";
import { type Client, clientWith } from "../client/client.ts";
import { systemClock } from "../client/clock.ts";
import { type Config, type Given, serviceOf } from "../client/config.ts";
import { CREDENTIAL_SETTINGS } from "../client/credential-settings.ts";
import { readConfig } from "../client/credentials.ts";
import { redactor } from "../client/redact.ts";
import { systemTransport } from "../client/transport.ts";
import { addressProblem } from "../schema/index.ts";
import { systemConfig } from "./client.ts";
import { UsageError } from "./usage.ts";

/** Settings of a provider, as texts: baseUrl, tokenEnv, … */
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

const PROVIDER = "pulumi:providers:irm";
/** A token in the inputs of a provider is secret, and a preview does not show it. */
const SETTINGS = ["baseUrl", "authUrl", "identity", "tokenEnv", "tokenFile", "identityTokenEnv", "identityTokenFile"];

/** The settings of a program's explicit providers. */
export const providersIn = ({ steps }: Preview): Settings[] =>
  steps
    .filter(({ urn }) => partsOfUrn(urn).type === PROVIDER)
    .map(({ newState, oldState }) => {
      const inputs = valuesIn((newState ?? oldState)?.inputs);
      const entries = SETTINGS.flatMap((name) =>
        typeof inputs[name] === "string" ? [[name, inputs[name] as string]] : [],
      );
      return Object.fromEntries(entries) as Settings;
    })
    .filter(({ baseUrl }) => baseUrl !== undefined && URL.canParse(baseUrl));

/**
 * A client of each service, by address: the environment's own first, then those of --service, then the program's own providers. Of two
 * settings for one address the first counts. A provider whose token a preview does not show has no client.
 */
export const clientsOf = (
  configured: Config | undefined,
  services: readonly Settings[],
  providers: readonly Settings[] = [],
): Map<string, Client> => {
  const parts = { env: process.env, clock: systemClock, redactor: redactor(), transport: systemTransport() };
  const clients = new Map<string, Client>();
  const add = (config: Config): void => void clients.set(serviceOf(config.baseUrl), clientWith({ ...parts, config }));
  if (configured) add(configured);
  const addAll = (all: readonly Settings[], givenOf: (address: string) => Pick<Given, "flag" | "provider">): void => {
    for (const settings of all) {
      const address = serviceOf(settings.baseUrl as string);
      if (clients.has(address)) continue;
      const given = { keys: Object.keys(settings).map((name) => `irm:${name}`), ...givenOf(address) };
      add(readConfig((key) => settings[key.replace(/^irm:/, "")], process.env, given));
    }
  };
  addAll(services, (address) => ({ flag: `--service ${address}` }));
  addAll(providers.filter(showsCredentials), (address) => ({ provider: `of ${address}` }));
  // The error says which address is missing.
  if (clients.size === 0) add(systemConfig());
  return clients;
};

/** At another address than the environment's, a provider has a token of its own, and a preview shows where it is, or nothing of it. */
const showsCredentials = ({ baseUrl, authUrl, ...settings }: Settings): boolean =>
  addressConflicts({ baseUrl, authUrl }, process.env).length === 0 ||
  Object.keys(settings).some((name) => Object.hasOwn(CREDENTIAL_SETTINGS, name));

/** Of the service of the environment, where it names one. */
export const firstOf = (clients: ReadonlyMap<string, Client>): Client => clients.values().next().value as Client;

/** What each of the services returns now, by address. */
export const readServices = async (clients: ReadonlyMap<string, Client>): Promise<Map<string, Live>> =>
  new Map(await Promise.all([...clients].map(async ([address, one]) => [address, await readLive(one)] as const)));

/** Merges what several services return. Uids of organizations are random, so two services never share one: a service that claims
 * a record of an earlier one is not believed. */
export const mergeLive = (services: ReadonlyMap<string, Live>): Live => {
  const lives = [...services.values()];
  const graph = newGraph();
  for (const { graph: own } of lives)
    for (const [kind, nodes] of Object.entries(own) as [keyof typeof graph, ReadonlyMap<string, never>][])
      for (const [id, node] of nodes) if (!graph[kind].has(id)) (graph[kind] as Map<string, never>).set(id, node);
  const timesOf = (name: "createdAt" | "lastSeen") => new Map(lives.flatMap((one) => [...(one[name] ?? [])]));
  return {
    graph,
    notVisible: lives.flatMap(({ notVisible }) => notVisible),
    createdAt: timesOf("createdAt"),
    lastSeen: timesOf("lastSeen"),
  };
};
