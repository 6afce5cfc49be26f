// The client of a command: the service and the credentials of the environment.
import { type Client, clientWith } from "../client/client.ts";
import type { Config } from "../client/config.ts";
import { readConfig } from "../client/credentials.ts";
import { apiErrorOf, errorText, ListError, redactor, sessionErrorOf, sessionText } from "../client/errors.ts";
import { systemClock } from "../client/retry.ts";
import { systemTransport } from "../client/transport.ts";

export const systemConfig = (): Config => readConfig(undefined, process.env);

/** With the credentials of the environment. Clients that share a redactor keep each other's tokens out of their texts. */
export const clientOf = (config: Config, env: NodeJS.ProcessEnv = process.env, secrets = redactor()): Client =>
  clientWith({ config, env, clock: systemClock, redactor: secrets, transport: systemTransport() });

export const systemClient = (): Client => clientOf(systemConfig());

/** A client of a server in this process, with this token alone. */
export const loopbackClient = (url: string, token: string): Client =>
  clientOf({ baseUrl: url, authUrl: url, requestTimeoutMs: 60_000 }, { IRM_TOKEN: token });

/** The text of an error of the configuration, the sign-in, the connection, the API or its lists; undefined for any other error. */
export const clientErrorText = (error: unknown): string | undefined => {
  if (error instanceof ListError) return error.message;
  const session = sessionErrorOf(error);
  if (session) return sessionText(session);
  const api = apiErrorOf(error);
  return api && errorText(api);
};
