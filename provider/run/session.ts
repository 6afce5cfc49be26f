// What the operations of one process share: the client with its token and retry quota, the journal, and the ownership of records. Only
// this file composes them. State of a single step lives in that step (`perSession`).
import { type Client, clientWith } from "../../client/client.ts";
import { type Clock, systemClock } from "../../client/clock.ts";
import { type Config, type Env, serviceOf } from "../../client/config.ts";
import { redactor } from "../../client/redact.ts";
import { DEADLINE_MS, singleAttempt } from "../../client/retry.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { printableLines } from "../../schema/index.ts";
import { JournalError } from "../log/file.ts";
import type { Engine } from "../log/place.ts";
import { besidePlugins } from "./beside-plugins.ts";
import { joinOperation } from "./join.ts";
import { createJournal, type Journal } from "./journal.ts";
import { folderFlag, journalPath, journalProblem } from "./journal-path.ts";
import { soleOperation } from "./operation.ts";
import { createOwnership, type Ownership } from "./ownership.ts";
import { type BindingPlaces, bindingPlaces } from "./places.ts";
import { type SecretNames, secretNames } from "./secret-names.ts";
import { type Turns, turnsOf } from "./turns.ts";

export interface Session extends Client, Ledger {
  /** address of the service */
  service: string;
  /** with a reason, from the moment when nothing may be created any more */
  stopped?: { reason?: Error };
  /** longest time for one request */
  requestTimeoutMs: number;
  /** aborted by ^C */
  cancelled?: AbortSignal;
  /** prints a line in the output of Pulumi */
  log(text: string): void;
}

export interface Environment {
  env: Env;
  clock: Clock;
  transport: Transport;
  /** folder that the process runs in; default: its own */
  cwd?: string;
  /** prints a line in the output of Pulumi */
  log(text: string): void;
  /** started this process as one of several that serve its operation; absent: this process serves all of it */
  engine?: Engine;
  /** started this process to serve all dynamic resources; a plugin may serve other resources of the same operation */
  dynamicEngine?: Engine;
  /** aborted by ^C: ends the waits of recoveries */
  cancelled?: AbortSignal;
  /** keeps the SDK from printing an error that the engine prints too */
  silence?(error: Error): void;
}

export const systemEnvironment = (): Environment => ({
  env: process.env,
  clock: systemClock,
  transport: systemTransport(),
  log: (text) => console.log(printableLines(text)),
});

/** What the processes of an operation share. It needs no credentials, so a preview without them has it. */
export interface Ledger {
  ownership: Ownership;
  journal: Journal;
  places: BindingPlaces;
  turns: Turns;
  secretNames: SecretNames;
}

export const ledgerWith = (config: Config, environment: Environment): Ledger => {
  const { clock, env, log, engine, dynamicEngine, cwd = process.cwd() } = environment;
  const problem = journalProblem(config.journal, env, cwd);
  const operation = engine ? joinOperation(engine) : soleOperation();
  const service = serviceOf(config.baseUrl);
  const timeoutMs = DEADLINE_MS + config.requestTimeoutMs;
  return {
    ownership: besidePlugins(createOwnership(operation, service), dynamicEngine, service),
    places: bindingPlaces(operation, service),
    turns: turnsOf(operation, service, clock, timeoutMs),
    secretNames: secretNames(operation, service),
    journal: createJournal({
      pathOf: (stack) => {
        if (problem !== undefined) throw new JournalError(problem);
        return journalPath(stack, config, env, cwd);
      },
      folderFlag: folderFlag(config.journal, env),
      clock,
      timeoutMs,
      log,
      operation,
    }),
  };
};

export const sessionWith = (
  config: Config,
  environment: Environment,
  ledger = ledgerWith(config, environment),
): Session => ({
  ...clientWith({ ...environment, config, redactor: redactor() }),
  ...ledger,
  service: serviceOf(config.baseUrl),
  requestTimeoutMs: config.requestTimeoutMs,
  log: environment.log,
  ...(environment.cancelled && { cancelled: environment.cancelled }),
});

/** The same for a preview, which works without the service. */
export const withOneAttempt = (session: Session): Session => ({
  ...session,
  call: (operation, request, options) =>
    session.call(operation, request, { ...options, attempts: singleAttempt(session.clock) }),
});

/** State of one step, for as long as a session lasts; sessions that are derived from it share the state. */
export const perSession = <T>(create: () => T): ((session: { ownership: object }) => T) => {
  const states = new WeakMap<object, T>();
  return ({ ownership }) => {
    const state = states.get(ownership) ?? create();
    states.set(ownership, state);
    return state;
  };
};

/** `Date` has whole seconds. */
export const DATE_MS = 1_000;

/**
 * Milliseconds since the epoch by the service's clock, never ahead of it (docs/faults.md#f24). This machine's own time is never
 * compared with createTime, nor read by another machine. Pings the service before its first response.
 */
export const serviceNow = async (session: Session): Promise<number> => {
  if (session.serverNow() === undefined) await session.call("Ping", {}).catch(() => undefined);
  // If the ping fails, the next request fails too.
  return session.serverNow() ?? session.clock.today();
};
