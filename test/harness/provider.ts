// The provider over a reference server in this process. The processes of `startMachine` share the journal's folder, as two runs
// do, and their POSTs meet the given faults, one each. The sessions of `startService` meet no fault.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { Env } from "../../client/config.ts";
import { readConfig } from "../../client/credentials.ts";
import { AttemptError } from "../../client/retry.ts";
import { type HttpAnswer, type HttpRequest, systemTransport, type Transport } from "../../client/transport.ts";
import { type Methods, methodsWith } from "../../provider/engine/methods.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import * as reconcile from "../../provider/reconcile/index.ts";
import { journalPath } from "../../provider/run/journal-path.ts";
import { type Environment, type Session, sessionWith } from "../../provider/run/session.ts";
import type { StoredStacks } from "../../provider/run/stored-stack.ts";
import { ApiError, type Json } from "../../schema/index.ts";
import { createServer, parseSeed, type RunningServer } from "../../server/index.ts";
import { getter, journalFolder, keyOf, page, type Recorded } from "../support/scripted.ts";
import { sharedKeys } from "./api-server.ts";
import { type ManualClock, manualClock } from "./clock.ts";

export type Fault = "503 in 30 s" | "refused" | "reset" | "reset after" | "timeout" | "timeout after";

export interface Process {
  session: Session;
  clock: ManualClock;
  environment: Environment;
}

/** The outcome of a request; `send` carries it out. */
export type Wire = (request: HttpRequest, send: () => Promise<HttpAnswer>, clock: ManualClock) => Promise<HttpAnswer>;

/** Thrown on the wire, it ends the process there. */
export class Killed extends Error {}

export type Machine = ReturnType<typeof startMachine>;

/** No answer came. */
export const noAnswer = (sent: boolean, timedOut = false) =>
  new AttemptError({ sent, ...(timedOut && { timedOut }) }, new ApiError("UNAVAILABLE", "no answer"));

const meet = async (fault: Fault | undefined, send: () => Promise<HttpAnswer>): Promise<HttpAnswer> => {
  if (fault === "refused") throw noAnswer(false);
  if (fault === "reset") throw noAnswer(true);
  if (fault === "timeout") throw noAnswer(true, true);
  if (fault === "503 in 30 s") return { ...page(503), headers: { "retry-after": "30" } };
  const answer = await send();
  if (fault === "reset after") throw noAnswer(true);
  if (fault === "timeout after") throw noAnswer(true, true);
  return answer;
};

const meeting =
  (faults: Fault[]): Wire =>
  (request, send) =>
    request.method === "POST" ? meet(faults.shift(), send) : send();

/** Started before the tests of a file, with a new journal for each. */
export const startMachine = () => {
  let count = 0;
  const direct = systemTransport();

  const processIn = (journal: string, aheadMs: number, wire: Wire, atMs = 0): Process => {
    const clock = manualClock();
    clock.advance(atMs);
    const send: Transport = async (request) => {
      const answer = await direct(request);
      const date = new Date(Date.parse(String(answer.headers.date)) + aheadMs).toUTCString();
      return { ...answer, headers: { ...answer.headers, date } };
    };
    const transport: Transport = (request) => {
      if (request.method === "POST") machine.posts += 1;
      return wire(request, () => send(request), clock);
    };
    const env = { ...machine.service.env, IRM_JOURNAL: journal };
    const { stored: storedStacks } = machine;
    const log = (text: string) => void machine.messages.push(text);
    const environment = { env, clock, transport, log, ...(storedStacks && { storedStacks }) };
    return { session: sessionWith(readConfig(getter(), env), environment), clock, environment };
  };

  const machine = {
    service: undefined as unknown as Service,
    org: "",
    /** folder of the journal; a new one for each test */
    journal: "",
    messages: [] as string[],
    /** how many POSTs were sent */
    posts: 0,
    /** what the engine has stored, for the processes that begin from then on; undefined: no engine has started them */
    stored: undefined as StoredStacks | undefined,
    run: (...faults: Fault[]) => processIn(machine.journal, 0, meeting(faults)),
    /** a process that sees the service's clock `aheadMs` ahead */
    runAt: (aheadMs: number, ...faults: Fault[]) => processIn(machine.journal, aheadMs, meeting(faults)),
    /** a process whose requests use this wire, and whose clocks begin `atMs` later */
    runOver: (wire: Wire, atMs?: number) => processIn(machine.journal, 0, wire, atMs),
    /** a process that dies at its POST, before the service has it or after */
    dying: (when: "before" | "after"): Process =>
      machine.runOver(async ({ method }, send) => {
        if (method !== "POST") return send();
        if (when === "after") await send();
        throw new Killed();
      }),
    /** a process on another machine */
    onOtherMachine: () => processIn(mkdtempSync(join(journalFolder, "elsewhere-")), 0, meeting([])).session,
    /** arguments of a unique group */
    inputs: (): Json => {
      count += 1;
      return { ...keyOf(`g${count}`), parent: machine.org, name: `g${count}`, description: "d" };
    },
    /** a group with these arguments, created by another caller */
    createByOther: ({ parent, name, description }: Json) =>
      machine.service.call("CreateGroup", { parent, group: { name, description } }),
    /** the resource of these arguments in a new process, whose POSTs meet these faults */
    create: (args: Json, ...faults: Fault[]) =>
      reconcile.create(kindRecords.group, machine.run(...faults).session, args),
    /** the same in a process that dies at its POST: it may still arrive */
    killed: (args: Json, when: "before" | "after" = "before"): Promise<void> =>
      expect(reconcile.create(kindRecords.group, machine.dying(when).session, args)).rejects.toThrow(Killed),
    /** the entries of a resource that its journal has open */
    unsettled: ({ __key: key }: Json) => machine.run().session.journal.findUnsettled(key as string),
    named: async (name: unknown): Promise<Json[]> => {
      const request = { uidp: { childrenOf: machine.org }, name: name as string };
      return (await machine.service.session.call("ListGroups", request)).groups as unknown as Json[];
    },
    /** the journal of the stack */
    file: (): string => {
      const config = { journal: machine.journal, baseUrl: machine.service.baseUrl } as never;
      return journalPath("organization/project/stack", config, machine.service.env, process.cwd());
    },
    /** An entry of an earlier run: pending, or of the record that it has made. */
    leave: (entry: Json, uid?: string): void => {
      count += 1;
      const intent = { intent: `i${count}`, kind: "group", inputs: "0", given: [], notBefore: 0, ...entry };
      const lines = uid === undefined ? [intent] : [intent, { ...intent, uid }];
      appendFileSync(machine.file(), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    },
    /** lines of the journal */
    lines: (): Json[] =>
      readdirSync(machine.journal)
        .filter((name) => name.endsWith(".jsonl"))
        .flatMap((name) => readFileSync(join(machine.journal, name), "utf8").trim().split("\n"))
        .map((line) => JSON.parse(line) as Json),
  };

  beforeAll(async () => {
    machine.service = await startService();
    machine.org = machine.service.organization as string;
  });
  beforeEach(() => {
    Object.assign(machine, {
      journal: mkdtempSync(join(journalFolder, "machine-")),
      messages: [],
      posts: 0,
      stored: undefined,
    });
  });
  afterAll(() => machine.service.close());
  return machine;
};

export type Service = Awaited<ReturnType<typeof startService>>;

/** The reference server, and a session of its owner, with a token as CI gets one. */
export const startService = async (seed?: string) => {
  const clock = manualClock();
  const server = await createServer({
    dev: true,
    keys: sharedKeys(),
    clock: () => Date.now() + clock.now(),
    ...(seed !== undefined && { seed: parseSeed(seed, "seed.yaml") }),
  });
  const requests: Recorded[] = [];
  const send = systemTransport();
  const transport: Transport = (request) => {
    requests.push({ ...request, json: request.body === undefined ? undefined : JSON.parse(request.body) });
    return send(request);
  };
  const env: Env = {
    IRM_BASE_URL: server.baseUrl,
    IRM_JOURNAL: mkdtempSync(join(journalFolder, "s-")),
    IRM_IDENTITY: server.identity,
    IRM_IDENTITY_TOKEN: await workloadToken(server, "owner"),
  };
  /** A session like that of another process. */
  const otherSession = () => sessionWith(readConfig(getter(), env), { env, clock, transport, log: () => undefined });
  const environment = (own: Partial<Environment> = {}): Environment => ({
    ...{ clock: manualClock(), transport: systemTransport(), log: () => undefined, ...own },
    env: { ...env, ...own.env },
  });
  const session = otherSession();
  /** A call of another caller. */
  const call = (operation: string, request: object): Promise<Json & { uid: string }> =>
    session.call(operation as never, request as never) as never;
  return {
    ...{ ...server, env, requests, transport, session, otherSession, call },
    /** of its sessions; the server's clock follows it */
    clock,
    /** A session of a process of its own clock, whose requests are not recorded. */
    start: (own?: Partial<Environment>) => {
      const one = environment(own);
      return sessionWith(readConfig(getter(), one.env), one);
    },
    /** The methods of such a process, as the engine calls them. */
    methods: async (own?: Partial<Environment>) => {
      const methods = methodsWith(environment(own));
      await methods.group.configure({ config: { get: getter() } });
      return methods;
    },
    /** uid of a built-in role */
    role: async (name: string): Promise<string> => {
      const { roles } = await call("ListRoles", { uidp: { inRoot: true }, name });
      return (roles as { uid: string }[])[0]?.uid as string;
    },
  };
};

/** A service for all the tests of a file, which closes after them. */
export const startSharedService = async (seed?: string): Promise<Service> => {
  const service = await startService(seed);
  afterAll(() => service.close());
  return service;
};

export const workloadToken = async (server: Pick<RunningServer, "issuer">, subject: string): Promise<string> => {
  const answer = await fetch(`${server.issuer}/token`, { method: "POST", body: JSON.stringify({ subject }) });
  return ((await answer.json()) as { token: string }).token;
};

/** The methods of a group, as the engine calls a process. */
export const configureGroup = async ({ environment }: Process): Promise<Methods> => {
  const { group } = methodsWith(environment);
  await group.configure({ config: { get: () => undefined } });
  return group;
};

export const isGroupThere = async ({ session }: Pick<Service, "session">, uid: string): Promise<boolean> => {
  const { groups } = await session.call("ListGroups", { uidp: { ids: [uid] } });
  return (groups as unknown as Json[]).length === 1;
};
