// The state that the methods of a process share: the connection to the service, the declarations of the program, and the records of the
// engine's state.
import { type GetConfig, type ParsedConfig, parseConfig, serviceOf } from "../../client/config.ts";
import { missingCredentials, requireConfig } from "../../client/credentials.ts";
import { ConfigError } from "../../client/errors.ts";
import { SERVICE } from "../../client/preview-marks.ts";
import type { Json } from "../../schema/index.ts";
import { recordId, stampText } from "../record/id.ts";
import { stackOf } from "../run/journal.ts";
import { journalFolder, workTreeProblem } from "../run/journal-path.ts";
import { type Environment, type Ledger, ledgerWith, type Session, sessionWith } from "../run/session.ts";
import type { Held } from "./steps.ts";

/** The configuration that the SDK's provider passes. The optional members are undocumented; without them misspelt keys are not reported. */
export interface StackConfig {
  get: GetConfig;
  rawConfig?: Readonly<Record<string, unknown>>;
  projectName?: string;
  /** name of an explicit provider, whose arguments these are */
  provider?: string;
}

// The dynamic provider calls methods before configure has finished (@pulumi/pulumi/cmd/dynamic-provider/index.ts), so each waits for it.

export type Connection = ReturnType<typeof connectionWith>;

export const connectionWith = (environment: Environment) => {
  const { env, envProblems, log, clock, cancelled, cwd = process.cwd() } = environment;
  const configured = Promise.withResolvers<ParsedConfig>();
  /** Once a record of this run was refused: why nothing is created. */
  const stopped: NonNullable<Session["stopped"]> = {};
  let parsed: ParsedConfig | undefined;
  let usable: Promise<void> | undefined;
  let ledger: Ledger | undefined;
  let session: Session | undefined;
  // The engine sends Cancel at the end of each run, and then saves its unsaved changes.
  cancelled?.addEventListener("abort", () => ledger?.journal.endInOrder(), { once: true });

  // Not strict: a misspelt key must not prevent reading or deleting the records of a state.
  const config = async () => requireConfig(await configured.promise, false);
  const openLedger = async () => {
    const settings = await config();
    ledger ??= ledgerWith(settings, environment);
    return ledger;
  };
  const connect = async () => {
    if (session) return session;
    const [settings, own] = [await config(), await openLedger()];
    session ??= { ...sessionWith(settings, environment, own), stopped };
    return session;
  };

  return {
    stopped,
    config,
    ledger: openLedger,
    connect,
    /** The first configuration counts. Never throws: the engine would call the other methods anyway, and they report the problems. */
    configure: (given: StackConfig) => {
      const { rawConfig = {}, projectName: project, provider } = given;
      const keys = Object.keys(rawConfig);
      parsed ??= parseConfig((key) => given.get(key), env, { keys, project, provider, envProblems });
      configured.resolve(parsed);
    },
    /** Throws if the configuration is wrong; this needs no credentials. Logs its warnings once. */
    requireUsable: () => {
      usable ??= configured.promise.then((own) => {
        const problem = workTreeProblem(journalFolder(requireConfig(own, true).journal, env), cwd);
        if (problem !== undefined) throw new ConfigError([problem], "work-tree");
        for (const warning of own.warnings) log(warning);
      });
      return usable;
    },
    hasCredentials: async () => missingCredentials((await configured.promise).credentials) === undefined,
    /** Whether the state is from another address. After a confirmed move the update stores the new one. */
    isMoved: async ({ [SERVICE]: stored }: Json) => {
      const { baseUrl } = await config();
      // Usually the address is already in normal form.
      return stored !== undefined && stored !== baseUrl && stored !== serviceOf(baseUrl);
    },
    /** For functions, which belong to no kind. Only a program calls them, so the configuration is its own. */
    connectProgram: async () => {
      requireConfig(await configured.promise, true);
      return connect();
    },
    /** When a resource was new, by the service's clock. Undefined if this process has not reached the service yet. */
    newStamp: () => {
      const at = session?.serverNow();
      if (!session || at === undefined) return undefined;
      const stamp = stampText({ at, startedAt: clock.today() });
      session.stamps.add(stamp);
      return stamp;
    },
  };
};

// The resources that the program declares, and the records that the state holds for them. A refresh compares resources under the names of
// the state. Only a check shows that the program declares one, perhaps under another name.

export const notedRecords = () => {
  /** keys of the resources that the engine has checked */
  const declared = new Set<unknown>();
  /** the records that ownership knows to be in the state, with their owners */
  const noted = new Set<string>();
  return {
    declared,
    isDeclared: (key: unknown) => declared.has(key),
    /** A refresh reads before any check, and a destroy checks nothing. */
    declaresNothing: () => declared.size === 0,
    /** The state holds these records. Its key may be an earlier name of the resource: it locates the journal, but proves no ownership. */
    noteInState: async ({ ownership, journal }: Ledger, held: readonly Held[], key: unknown): Promise<void> => {
      const isDeclared = declared.has(key);
      const fresh: string[] = [];
      for (const { kind, uid, owner } of held) {
        const id = recordId(kind.field, uid);
        // A refresh reads each record, and then compares it.
        if (!isDeclared && noted.has(`${id} ${owner}`)) continue;
        noted.add(`${id} ${owner}`);
        ownership.inState(id, owner, isDeclared);
        fresh.push(uid);
      }
      if (held[0] && fresh.length > 0) await journal.acknowledge(held[0].kind.field, fresh, key as string | undefined);
    },
  };
};

/** Runs `work` once for the stack of a resource: calls for the other resources wait for it. After a failure the next call tries again. */
export const oncePerStack = (work: (key: string, isUpdate: boolean | undefined) => Promise<void>) => {
  // A process serves one stack. If it serves several, only the last one counts: `work` keeps the results of one.
  let last: { stack: string; done: Promise<void> } | undefined;
  return async (key: unknown, isUpdate: boolean | undefined): Promise<void> => {
    if (typeof key !== "string") return;
    const stack = stackOf(key);
    if (last?.stack !== stack) {
      const done = work(key, isUpdate);
      last = { stack, done };
      done.catch(() => {
        last = undefined;
      });
    }
    await last.done;
  };
};
