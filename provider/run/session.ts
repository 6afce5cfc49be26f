// State that the operations of one process share: the client with its token and retry quota, the journal, and the ownership of records.
// Only this file composes them. State of a single step lives in that step (`perSession`).
import { type Client, clientWith } from "../../client/client.ts";
import { type Config, type Env, serviceOf } from "../../client/config.ts";
import { redactor, withSection } from "../../client/errors.ts";
import { type Clock, DEADLINE_MS, singleAttempt, systemClock } from "../../client/retry.ts";
import { inRun, runIn, runNotice } from "../../client/run-file.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { getOrInsert, printableLines } from "../../schema/index.ts";
import { JournalError } from "../log/entries.ts";
import { joinOperation, type Operation, soleOperation } from "../log/operation.ts";
import type { Engine } from "../log/place.ts";
import { createJournal, type Journal } from "./journal.ts";
import { folderFlag, journalFolder, journalPath, workTreeProblem } from "./journal-path.ts";
import { createOwnership, type Ownership, type Turns, turnsOf } from "./ownership.ts";
import { environmentProblems, noStoredStacks, type StoredStacks, skipsCheckpoints } from "./stored-stack.ts";

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
  places: ReturnType<typeof bindingPlaces>;
  turns: Turns;
  secretNames: ReturnType<typeof secretNames>;
  /** when this run began, by the clock of this process */
  begunAt: number;
  /** the stamps that this process gave to new resources (provider/record/id.ts) */
  stamps: Set<string>;
  /** By stack: whether a killed run has left creates open there. A stack is absent until this run has asked the engine. */
  interrupted: Map<string, boolean>;
}

export const ledgerWith = (config: Config, environment: Environment): Ledger => {
  const { clock, env, log, engine, storedStacks = noStoredStacks, cwd = process.cwd() } = environment;
  const problem = workTreeProblem(journalFolder(config.journal, env), cwd);
  const operation = engine ? joinOperation(engine) : soleOperation;
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
      folderFlag: () => folderFlag(config.journal, env),
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
  const { run } = runIn(environment.env) ?? {};
  if (run) environment.log(runNotice(run));
  const client = clientWith({ ...environment, config, redactor: redactor() });
  return {
    ...client,
    ...ledger,
    service: serviceOf(config.baseUrl),
    requestTimeoutMs: config.requestTimeoutMs,
    log: environment.log,
    ...(run?.kind === "review" && { isOnTwin: true }),
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
// name that the API has. None of them shows a name that another process received as a secret.

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

// Checks the declarations of bindings in a group: at most one set, and no RoleBinding beside an exclusive set, which would remove it. The
// program's side compares resources and uids as it constructs them, the engine's side compares uids as it checks them.

type Claim = {
  type: "RoleBinding" | "RoleBindingSet";
  /** logical name */
  name: string;
  exclusive: boolean;
};

interface Event {
  place: unknown;
  key: unknown;
  own: Claim;
}

type Problem = [{ property: string; reason: string }];

/** `operation`: the processes that share it. */
export const bindingPlaces = (operation: Operation = soleOperation, service = "") => {
  // A group may have thousands of bindings: a binding is compared only with the sets.
  const places = new Map<unknown, Record<Claim["type"], Map<unknown, Claim>>>();
  const reduce = ({ place, key, own }: Event): Problem | undefined => {
    const claims = getOrInsert(places, place, () => ({ RoleBinding: new Map(), RoleBindingSet: new Map() }));
    claims[own.type].set(key, own);
    const sets = [...claims.RoleBindingSet].flatMap(([other, claim]) => (other === key ? [] : [claim]));
    if (own.type === "RoleBinding") {
      const set = sets.find(({ exclusive }) => exclusive);
      return set && conflict("parent", set, own);
    }
    if (sets[0]) {
      const reason = `RoleBindingSet ${sets[0].name} declares the bindings of this group already; put all of them into one set`;
      return [{ property: "parent", reason }];
    }
    const [binding] = own.exclusive ? claims.RoleBinding.values() : [];
    return binding && conflict("exclusive", own, binding);
  };
  const { append, refresh } = operation.share(`bindings ${service}`, reduce);
  return {
    /**
     * A resource declares bindings in the group `place`, which is a uid or a resource of the program; `key` is always the same for one
     * resource. Returns why it must not, with the wrong argument.
     */
    claim: (place: unknown, key: unknown, own: Claim): Problem | undefined => append({ place, key, own }),
    /** Whether a resource other than the set with this key declares bindings there. */
    isShared: (place: unknown, key: unknown): boolean => {
      refresh?.();
      const claims = places.get(place);
      if (!claims) return false;
      return claims.RoleBinding.size > 0 || [...claims.RoleBindingSet.keys()].some((other) => other !== key);
    },
  };
};

const conflict = (property: string, set: Claim, binding: Claim): Problem => [
  {
    property,
    reason:
      `RoleBinding ${binding.name} is in the group of RoleBindingSet ${set.name}, which is exclusive and would remove it; ` +
      "declare its pair in the set instead, or leave out exclusive",
  },
];
