// What the operations of one process share: the client with its token and retry budget, the deletes that are under way, the
// organisations that were made. Composed here and nowhere else.
import { type Call, clientWith } from "./client.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Config, ConfigError, configFrom, type Env, type GetConfig } from "./config.ts";
import { missingCredentials } from "./credentials.ts";
import { type Deletes, deletes } from "./deletes.ts";
import { redactor } from "./redact.ts";
import { systemTransport, type Transport } from "./transport.ts";

export interface Session {
  call: Call;
  clock: Clock;
  deletes: Deletes;
  /** uids of the root groups that this process created: tokens issued before do not know them */
  newRoots: Set<string>;
}

export interface Outside {
  env: Env;
  clock: Clock;
  transport: Transport;
  /** a line for the person who runs Pulumi */
  say(text: string): void;
}

export const systemOutside = (): Outside => ({
  env: process.env,
  clock: systemClock,
  transport: systemTransport(),
  say: (text) => console.log(text),
});

/** The configuration, or one error with all that is wrong and missing, credentials included. */
export const checkedConfig = (get: GetConfig, env: Env): Config => {
  try {
    return configFrom(get, env);
  } catch (error) {
    const missing = missingCredentials(env);
    throw error instanceof ConfigError && missing ? new ConfigError([...error.problems, missing]) : error;
  }
};

export const sessionWith = (config: Config, outside: Outside): Session => ({
  call: clientWith({ ...outside, config, redactor: redactor() }),
  clock: outside.clock,
  deletes: deletes(),
  newRoots: new Set(),
});
