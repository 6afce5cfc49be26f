// State that the operations of one process share: the client with its token and retry quota, the journal, and the ownership of records.
// Only this file composes them. State of a single step lives in that step (`perSession`).
import { type Client, clientWith } from "../../client/client.ts";
import { type Clock, systemClock } from "../../client/clock.ts";
import { type Config, type Env, serviceOf } from "../../client/config.ts";
import { redactor, withSection } from "../../client/errors.ts";
import { DEADLINE_MS, singleAttempt } from "../../client/retry.ts";
import { inRun, isOnTwins, runNotice } from "../../client/run-file.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { printableLines } from "../../schema/index.ts";
import { JournalError } from "../log/file.ts";
import { joinOperation, type Operation, soleOperation } from "../log/operation.ts";
import type { Engine } from "../log/place.ts";
import { createJournal, type Journal } from "./journal.ts";
import { folderFlag, journalPath, journalProblem } from "./journal-path.ts";
import { createOwnership, type Ownership, type Turns, turnsOf } from "./ownership.ts";
import { type BindingPlaces, bindingPlaces } from "./places.ts";
import { environmentProblems, skipsCheckpoints } from "./started-with.ts";
import { noStoredStacks, type StoredStacks } from "./stored-stack.ts";

export interface Session extends Client, Ledger {
  /** address of the service */
  service: string;
  /** contains a reason once nothing may be created any more */
  stopped?: { reason?: Error };
  /** longest time for one request */
  requestTimeoutMs: number;
  /** aborted by ^C */
  cancelled?: AbortSignal;
  /** its requests go to a twin, which no request reaches late: no wait for late requests or hidden records is needed */
  isOnTwin?: true;
  /** prints a line in the output of Pulumi */
  log(text: string): void;
}

export interface Environment {
  env: Env;
  /** problems of the environment, which each run reports */
  envProblems?: readonly string[];
  clock: Clock;
  transport: Transport;
  /** folder that the process runs in; default: its own */
  cwd?: string;
  /** prints a line in the output of Pulumi */
  log(text: string): void;
  /** the line as `log` prints it; default: unchanged */
  masked?(text: string): string;
  /** started this process, perhaps as one of several that serve its operation */
  engine?: Engine;
  /** reads the engine's stored data; absent: no engine has started this process */
  storedStacks?: StoredStacks;
  /** aborted by ^C: ends the waits of recoveries */
  cancelled?: AbortSignal;
  /** keeps the SDK from printing an error that the engine prints too */
  silence?(error: Error): void;
}

export const systemEnvironment = (): Environment => ({
  env: process.env,
  envProblems: environmentProblems(process.env),
  clock: systemClock,
  transport: inRun(systemTransport(), process.env),
  log: (text) => console.log(printableLines(text)),
});

/** State that the processes of an operation share. It needs no credentials, so it exists even in a preview without them. */
export interface Ledger extends StoredStacks {
  ownership: Ownership;
  journal: Journal;
  places: BindingPlaces;
  turns: Turns;
  secretNames: SecretNames;
  /** when this run began, by the clock of this process */
  begunAt: number;
  /** the stamps that this process gave to new resources (provider/record/id.ts) */
  stamps: Set<string>;
  /** By stack: whether a killed run has left creates open there. A stack is absent until this run has asked the engine. */
  interrupted: Map<string, boolean>;
}

export const ledgerWith = (config: Config, environment: Environment): Ledger => {
  const { clock, env, log, engine, storedStacks = noStoredStacks, cwd = process.cwd() } = environment;
  const problem = journalProblem(config.journal, env, cwd);
  const operation = engine ? joinOperation(engine) : soleOperation();
  const service = serviceOf(config.baseUrl);
  const timeoutMs = DEADLINE_MS + config.requestTimeoutMs;
  return {
    ownership: createOwnership(operation, service),
    places: bindingPlaces(operation, service),
    turns: turnsOf(operation, service, clock, timeoutMs),
    secretNames: secretNames(operation, service),
    begunAt: clock.now() - storedStacks.engineAgeMs(),
    stamps: new Set(),
    interrupted: new Map(),
    ...storedStacks,
    journal: createJournal({
      pathOf: (stack) => {
        if (problem !== undefined) throw new JournalError(withSection(problem, "work-tree"));
        return journalPath(stack, config, env, cwd);
      },
      folderFlag: folderFlag(config.journal, env),
      clock,
      timeoutMs,
      log,
      operation,
      isUnchecked: skipsCheckpoints(env),
    }),
  };
};

export const sessionWith = (
  config: Config,
  environment: Environment,
  ledger = ledgerWith(config, environment),
): Session => {
  const notice = runNotice(environment.env);
  if (notice !== undefined) environment.log(notice);
  const client = clientWith({ ...environment, config, redactor: redactor() });
  return {
    ...client,
    ...ledger,
    service: serviceOf(config.baseUrl),
    requestTimeoutMs: config.requestTimeoutMs,
    log: environment.log,
    ...(isOnTwins(environment.env) && { isOnTwin: true }),
    ...(environment.cancelled && { cancelled: environment.cancelled }),
  };
};

/** The session for a preview, which works without the service. */
export const withOneAttempt = (session: Session): Session => ({
  ...session,
  call: (operation, request, options) =>
    session.call(operation, request, { ...options, attempts: singleAttempt(session.clock) }),
});

/** `Date` has whole seconds. */
export const DATE_MS = 1_000;

// The uids of records whose names the program marks as secret. A plugin runs one process for each explicit provider, and each may show a
// name that the API has: none of them shows a name that another process received as a secret.

export type SecretNames = ReturnType<typeof secretNames>;

export const secretNames = (operation: Operation, service: string) => {
  const uids = new Set<string>();
  const { append, refresh } = operation.share(`secret names ${service}`, (uid: string) => void uids.add(uid));
  return {
    add: (uid: string) => {
      if (!uids.has(uid)) append(uid);
    },
    has: (uid: string) => {
      refresh?.();
      return uids.has(uid);
    },
  };
};
