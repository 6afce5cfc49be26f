// A reference server in this process, and who calls it as its owner.
import { type Client, clientWith } from "../../../client/client.ts";
import type { Clock } from "../../../client/clock.ts";
import { readConfig } from "../../../client/credentials.ts";
import { redactor } from "../../../client/errors.ts";
import { systemTransport } from "../../../client/transport.ts";
import { createLog } from "../../../server/base/log.ts";
import { createServer } from "../../../server/index.ts";
import type { ReadyLine } from "../../harness/api-process.ts";
import { sharedKeys } from "../../harness/api-server.ts";
import { fastClock, type Pace, timeAt } from "../../harness/clock.ts";
import { ownerOf } from "../../harness/small-engine/owner.ts";
import { type Answer, createHttpClient } from "../../support/http.ts";

export interface Access {
  /** its development organization */
  organization: string;
  /** a call of the API as its owner */
  call(method: string, target: string, options?: { body?: unknown }): Promise<Answer>;
  client(): Client;
  /** Takes a token that knows the organizations that were made since. */
  renewToken(): Promise<void>;
  /** a workload's token of the owner */
  mintToken(): Promise<string>;
  close(): void;
}

export const accessTo = async (
  server: Pick<ReadyLine, "baseUrl" | "authUrl" | "issuer" | "organization" | "identity">,
  clock: Clock,
): Promise<Access> => {
  const { baseUrl, organization } = server;
  const owner = await ownerOf(server);
  const http = createHttpClient(baseUrl);
  return {
    organization,
    call: (method, target, { body } = {}) =>
      http.send({
        ...{ method, target },
        headers: { authorization: `Bearer ${owner.token()}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    client: () => {
      const env = { IRM_BASE_URL: baseUrl, IRM_TOKEN: owner.token() };
      const config = readConfig(undefined, env);
      return clientWith({ config, env, clock, redactor: redactor(), transport: systemTransport() });
    },
    renewToken: owner.renewToken,
    mintToken: owner.mintToken,
    close: http.close,
  };
};

export interface Service extends Omit<Access, "close"> {
  pace: Pace;
  /** with which a program and its provider find the service */
  env(): Promise<Record<string, string>>;
  /** operations, other than reads, since the last call */
  takeWrites(): string[];
  close(): Promise<void>;
}

// Creates wait for each other, by this clock (provider/recovery/batch.ts).
const SPEED = 20;

export const startService = async (): Promise<Service> => {
  const pace: Pace = { startMs: Date.now(), speed: SPEED };
  let writes: string[] = [];
  const clock = () => timeAt(pace);
  const write = (line: string): void => {
    const { event, method, path, operation } = JSON.parse(line);
    const isOfService = path === undefined || !path.startsWith("/dev-issuer/");
    if (event === "request" && method !== "GET" && isOfService) writes.push(`${method} ${operation ?? path}`);
  };
  const log = createLog({ level: "info", json: true, clock, write });
  const server = await createServer({ dev: true, keys: sharedKeys(), clock, log });
  const { baseUrl, authUrl, issuer = "", identity = "", organization = "" } = server;
  const access = await accessTo({ baseUrl, authUrl, issuer, identity, organization }, fastClock(pace));
  return {
    ...access,
    pace,
    env: async () => ({
      ...{ IRM_BASE_URL: baseUrl, IRM_AUTH_URL: authUrl, IRM_IDENTITY: identity },
      IRM_IDENTITY_TOKEN: await access.mintToken(),
    }),
    takeWrites: () => {
      const taken = writes;
      writes = [];
      return taken;
    },
    close: async () => {
      access.close();
      await server.close();
    },
  };
};
