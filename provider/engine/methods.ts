// The methods of every kind, as the engine calls them through either adapter: its dynamic provider (handler.ts), or the native plugin
// (plugin/). Calls overlap, and the dynamic provider calls methods before configure has finished
// (@pulumi/pulumi/cmd/dynamic-provider/index.ts), so each method waits for the configuration.
import { type Config, type GetConfig, type ParsedConfig, parseConfig, serviceOf } from "../../client/config.ts";
import { missingCredentials, requireConfig } from "../../client/credentials.ts";
import { ConfigError } from "../../client/errors.ts";
import { AT, DRIFT_PREVIEW, missingText, SERVICE, type TakenOver, withService } from "../../client/preview-marks.ts";
import { isOnTwins } from "../../client/run-file.ts";
import { engineProcess } from "../../pulumi/process.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { type KindName, kindRecords, type StateKind } from "../kind/index.ts";
import type * as reconcile from "../reconcile/index.ts";
import { atWith, recordId, stampText, stampTextIn } from "../record/id.ts";
import { FORMER, KEY, PREVIEW, PROVIDER, REPLACE_ON, SECRET_ARGUMENTS } from "../record/state.ts";
import { reportPendingCreates } from "../recovery/recover.ts";
import { journalProblem } from "../run/journal-path.ts";
import { sentencesWith } from "../run/sentences.ts";
import { type Environment, type Ledger, ledgerWith, type Session, sessionWith } from "../run/session.ts";
import { skipsCheckpoints } from "../run/started-with.ts";
import { inStack, missingFailure } from "./adoption.ts";
import { withoutLookUp } from "./look-up.ts";
import { openStacks, openStepsWith, uncheckedGate } from "./open-stacks.ts";
import { recordNames } from "./record-names.ts";
import { recordStepsWith } from "./record-steps.ts";
import { refreshOnce, reporterWith } from "./report.ts";
import { isMoved, serviceGate } from "./service-gate.ts";
import { setStepsWith } from "./set-steps.ts";
import type { Held, IsSecret, LookedUp, StepParts, Steps } from "./steps.ts";

/** What the SDK's provider passes. The optional members are undocumented; without them misspelt keys are not reported. */
export interface StackConfig {
  get: GetConfig;
  rawConfig?: Readonly<Record<string, unknown>>;
  projectName?: string;
  /** name of an explicit provider, whose arguments these are */
  provider?: string;
}

export interface Methods {
  configure(request: { config: StackConfig }): Promise<void>;
  /**
   * `isSecret`: whether one of these arguments is secret, where the adapter knows. `showsNames`: which names the program marks as secret
   * is known, so what has none is no secret.
   */
  check(
    olds: Json,
    news: Json,
    isSecret?: IsSecret,
    showsNames?: boolean,
  ): Promise<{ inputs: Json; failures: reconcile.CheckFailure[] }>;
  diff(id: string, olds: Json, news: Json): Promise<reconcile.DiffResult>;
  /** A preview shows a create. Logs what its reader should know, and returns the record that the update takes over instead. */
  planned(inputs: Json): Promise<TakenOver | undefined>;
  /** A preview shows an update. */
  plannedUpdate(): void;
  create(inputs: Json): Promise<{ id: string; outs: Json }>;
  /** `inputs` are those in the state, where the adapter gets them: they stay as they are while they describe the record. */
  read(id: string, stored: Json, inputs?: Json): Promise<reconcile.ReadResult>;
  update(id: string, olds: Json, news: Json): Promise<{ outs: Json }>;
  delete(id: string, stored: Json): Promise<void>;
}

export type Provider = ReturnType<typeof providerWith>;

/** One process serves all kinds with the configuration of the first configure. */
export const methodsWith = (environment: Environment): Record<StateKind, Methods> => providerWith(environment).kinds;

/**
 * `looksUp`: the check looks up what the program names. Otherwise the program has done so itself (provider/program), except what a file
 * beside it names (adoption.ts).
 */
export const providerWith = (environment: Environment, { looksUp = false } = {}) => {
  const { env, log, cwd = process.cwd() } = environment;
  const isStarted = environment.engine !== undefined || environment.dynamicEngine !== undefined;
  const engine = isStarted ? engineProcess : () => undefined;
  const sentences = sentencesWith({ log, masked: environment.masked, engine });
  const report = reporterWith(environment);
  const reported =
    <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await method(...args);
      } catch (error) {
        throw report(error, args);
      }
    };
  const configured = Promise.withResolvers<ParsedConfig>();
  let isConfigured = false;
  let hasWarned = false;
  let ledger: Ledger | undefined;
  let session: Session | undefined;

  // Not strict: a misspelt key must not prevent reading or deleting what a state holds.
  const config = async (): Promise<Config> => requireConfig(await configured.promise, false);
  let hasJournalOutside = false;
  const requireJournalOutside = ({ journal }: Config): void => {
    const problem = hasJournalOutside ? undefined : journalProblem(journal, env, cwd);
    if (problem !== undefined) throw new ConfigError([problem], "work-tree");
    hasJournalOutside = true;
  };
  const checkConfig = async (): Promise<void> => {
    const parsed = await configured.promise;
    requireJournalOutside(requireConfig(parsed, true));
    if (!hasWarned) for (const warning of parsed.warnings) log(warning);
    hasWarned = true;
  };
  const getLedger = async (): Promise<Ledger> => {
    const settings = await config();
    ledger ??= ledgerWith(settings, environment);
    return ledger;
  };
  const connect = async (): Promise<Session> => {
    if (session) return session;
    const [settings, own] = [await config(), await getLedger()];
    session ??= { ...sessionWith(settings, environment, own), stopped: gate.stopped };
    return session;
  };
  const hasCredentials = async (): Promise<boolean> =>
    missingCredentials((await configured.promise).credentials) === undefined;
  const gate = serviceGate({ config, connect, hasCredentials, log, clock: environment.clock });
  const { offline } = gate;
  // The state has these records. Its key may be an earlier name of the resource: it locates the journal, but proves no ownership.
  const noteInState = async (held: readonly Held[], key: unknown): Promise<void> => {
    const { ownership, journal } = await getLedger();
    const isDeclared = declared.has(key);
    const markOf = ({ kind, uid, owner }: Held): string => `${recordId(kind.field, uid)} ${owner}`;
    // A refresh reads each record, and then compares it.
    const noted = held.filter((one) => isDeclared || !met.has(markOf(one)));
    for (const one of noted) {
      met.add(markOf(one));
      ownership.inState(recordId(one.kind.field, one.uid), one.owner, isDeclared);
    }
    const [first] = noted;
    const uids = noted.map(({ uid }) => uid);
    if (first) await journal.acknowledge(first.kind.field, uids, key as string | undefined);
  };
  // A refresh compares resources under the names of the state. Only a check shows that the program declares one, perhaps under another.
  const declared = new Set<unknown>();
  /** what ownership knows to be in the state: record and owner */
  const met = new Set<string>();
  const refresh = refreshOnce();
  const noteKept = async (held: readonly Held[]): Promise<void> => {
    const { ownership } = await getLedger();
    for (const { kind, uid, kept } of held) if (kept) ownership.keep(recordId(kind.field, uid), kept.adopted);
  };
  const sessionFor = async (held: readonly Held[], stored: Json): Promise<Session> => {
    await noteInState(held, stored[KEY]);
    const session = await connect();
    // A state that somebody edited may have no key.
    const pending = typeof stored[KEY] === "string" ? await session.journal.takeUnreported(stored[KEY]) : [];
    if (pending.length > 0) await reportPendingCreates(session, pending);
    return session;
  };

  const lookUp = async (steps: Steps, olds: Json, asked: Json, isSecret: IsSecret | undefined): Promise<LookedUp> => {
    const { isUnseen = false, ...adopted } = await steps.adopted(olds, asked);
    if (adopted.missing || !(looksUp || isUnseen)) return { ...adopted, failures: [] };
    const { news } = adopted;
    return offline.isOn() ? withoutLookUp(olds, news) : steps.lookUp(olds, news, isSecret ?? (() => true));
  };
  const lookedUp = async (
    steps: Steps,
    olds: Json,
    asked: Json,
    isSecret: IsSecret | undefined,
    isUpdate: boolean | undefined,
  ): Promise<LookedUp> => {
    const { missing, ...looked } = await lookUp(steps, olds, asked, isSecret);
    if (missing === undefined) return looked;
    const isOnService = isUpdate === true && !isOnTwins(env);
    if (isOnService || !env[DRIFT_PREVIEW]) return { ...looked, failures: [missingFailure(missing, asked)] };
    log(missingText(inStack(asked[KEY]), missing.reason));
    // The create of an update then fails: it adopts, and sends no POST. A failure here would end the whole run.
    const isNew = Object.keys(olds).length === 0;
    return isNew ? withoutLookUp(olds, { ...looked.news, adopt: missing.adopt }) : looked;
  };

  // By the service's clock, which an update has met by now. A preview creates nothing.
  const newStamp = (isPreview: unknown): string | undefined => {
    const at = isPreview === true ? undefined : session?.serverNow();
    if (!session || at === undefined) return undefined;
    const stamp = stampText({ at, startedAt: environment.clock.today() });
    session.stamps.add(stamp);
    return stamp;
  };

  const methodsOf = (steps: Steps, hasParent = looksUp || !steps.derivesParent): Methods => ({
    // Never throws: the engine would call the other methods all the same, and they report the problems.
    configure: async ({ config }) => {
      if (isConfigured) return;
      isConfigured = true;
      const given = {
        keys: Object.keys(config.rawConfig ?? {}),
        project: config.projectName,
        provider: config.provider,
        envProblems: environment.envProblems,
      };
      configured.resolve(parseConfig((key) => config.get(key), env, given));
    },
    // Reports a wrong configuration in the preview, which needs no credentials.
    check: reported(
      async (olds, { [PREVIEW]: isPreview, [SECRET_ARGUMENTS]: secrets, ...asked }, marked, showsNames) => {
        const isSecret = marked ?? secretAmong(secrets);
        declared.add(asked[KEY]);
        await checkConfig();
        await gate.address(withService(olds));
        await offline.hold();
        const isNew = Object.keys(olds).length === 0;
        // Only programs in TypeScript say which of the two it is; dynamic resources have no other ones.
        const run = { isUpdate: isPreview === undefined && looksUp ? undefined : isPreview !== true };
        sentences.noteRun(run.isUpdate === undefined ? undefined : !run.isUpdate);
        if (isUidp(olds.parent)) await gate.organization(olds.parent, run);
        // A group that the same update creates is in no service yet.
        if (isNew && isUidp(asked.parent)) await gate.newPlace(asked.parent, run);
        if (run.isUpdate !== false && (await hasCredentials())) await gate.reachable(run);
        if (run.isUpdate !== undefined) await unchecked?.expect(asked[KEY], run.isUpdate);
        await lookAt(asked[KEY], run.isUpdate);
        const looked = await lookedUp(steps, olds, asked, isSecret, run.isUpdate);
        const { inputs, failures } = await steps.check(olds, looked.news, {
          isSecret,
          showsNames: showsNames ?? isPreview === true,
        });
        const problems = [...failures, ...looked.failures];
        if (isNew) offline.expectStep();
        const isPlanned = isPreview === true && !looksUp && isNew && problems.length === 0;
        const taken = isPlanned ? await steps.planned(inputs) : undefined;
        // The engine calls no create in a preview, and takes the inputs of a dynamic resource for its outputs.
        const uid = isPlanned ? await steps.knownUid(inputs, taken) : undefined;
        const stampFor = (olds: Json, inputs: Json): string | undefined => {
          const kept = stampTextIn(olds);
          return isNew || steps.createsMore(olds, inputs) ? (newStamp(isPreview) ?? kept) : kept;
        };
        const added = {
          ...placeAndTime(serviceOf((await config()).baseUrl), stampFor(olds, inputs)),
          ...(uid !== undefined && { uid }),
        };
        return {
          inputs: { ...inputs, ...looked.shown, ...added },
          failures: problems.map(({ property, reason }) => ({ property, reason })),
        };
      },
    ),
    diff: reported(async (id, olds, news) => {
      const held = steps.held(id, olds, news);
      await noteInState(held, news[KEY]);
      if (refresh.isUnread(id)) return { changes: false, replaces: [] };
      await gate.address(olds);
      await gate.organization(id);
      const compared = await steps.diff(id, olds, news);
      // A refresh compares with the inputs of the state: what the program keeps is not known yet.
      if (compared.replaces.length === 0 && declared.has(news[KEY])) await noteKept(held);
      // A native resource, which had no handler, or the service has moved. The update stores the handler and the address, and sends
      // nothing.
      const isStale = (!looksUp && olds[PROVIDER] === undefined) || isMoved(await config(), olds);
      const changes = compared.changes || isStale;
      if (changes) offline.expectStep();
      else offline.expectNone();
      return { ...compared, changes };
    }),
    planned: reported((inputs) => {
      offline.noteShown();
      return steps.planned(inputs);
    }),
    plannedUpdate: offline.noteShown,
    create: reported(async (inputs) => {
      if (gate.stopped.reason) throw gate.stopped.reason;
      if (offline.reason) offline.carriedOut();
      if (unchecked) await unchecked.require(inputs[KEY]);
      const session = await connect();
      const { id, outs } = await steps.create(session, inputs);
      const here = inputs[AT] === undefined ? inputs : { ...inputs, [SERVICE]: session.service };
      return { id, outs: withKey(outs, here, hasParent) };
    }),
    read: reported((id, stored, inputs) =>
      refresh.read(id, stored, declared.size === 0, async () => {
        await gate.address(stored);
        await lookAt(stored[KEY]);
        const session = await sessionFor(steps.held(id, stored), stored);
        const isRefresh = declared.size === 0 && typeof stored[KEY] === "string";
        const about = { inputs, isRefresh };
        const { isUnchanged, ...result } = await steps
          .read(session, id, stored, about)
          .catch((error) => gate.explain(id, error));
        if (result.id === "") return result;
        const here = { ...stored, [SERVICE]: session.service };
        const props = withKey(result.props, here);
        // The engine keeps its inputs: those from a record may have another spelling, and each difference is a save of the whole state.
        const keepsInputs = inputs === undefined && isUnchanged && stored[SERVICE] === session.service;
        if (keepsInputs) return { id: result.id, props };
        const { [SERVICE]: _service, ...described } = withKey(result.inputs ?? {}, here);
        return {
          ...result,
          props,
          inputs: { ...described, ...placeAndTime(session.service, stampTextIn(inputs ?? {})) },
        };
      }),
    ),
    update: reported(async (id, olds, news) => {
      offline.carriedOut();
      await unchecked?.require(news[KEY]);
      await noteInState(steps.held(id, olds), news[KEY]);
      const session = await connect();
      const { outs } = await steps.update(session, id, olds, news);
      return { outs: withKey(outs, { ...news, ...withService(news) }, hasParent) };
    }),
    delete: reported(async (id, stored) => {
      await gate.address(stored);
      await unchecked?.require(stored[KEY]);
      await lookAt(stored[KEY]);
      const session = await sessionFor(steps.held(id, stored), stored);
      // A destroy declares nothing.
      const { [KEY]: key } = stored;
      if (typeof key === "string" && (await session.journal.isBehind(key))) await open.removeLost(key);
      const mustClear = open.current !== undefined && declared.size === 0;
      if (mustClear) await open.clear();
      await steps.delete(session, id, stored).catch((error) => gate.explain(id, error));
      if (mustClear) await open.clear();
    }),
  });

  const names = recordNames({ ledger: getLedger, connect, hasCredentials });
  const parts: StepParts = { ledger: getLedger, connect, hasCredentials, log, sentence: sentences.log, cwd, names };
  const open = openStacks(parts, offline.isOn);
  const lookAt = async (key: unknown, isUpdate = true): Promise<void> => {
    if (typeof key === "string" && !key.startsWith(open.seen)) await open.look(key, isUpdate);
  };
  const unchecked = skipsCheckpoints(env) ? uncheckedGate({ config, ledger: getLedger, env, cwd, log }) : undefined;
  // The engine sends Cancel at the end of each run, and saves what it has not saved yet.
  environment.cancelled?.addEventListener("abort", () => ledger?.journal.endInOrder(), { once: true });
  const recordSteps = recordStepsWith(parts);
  const openSteps = openStepsWith(open, connect);
  const records = Object.entries(kindRecords).map(([name, kind]) => [name, methodsOf(openSteps(recordSteps(kind)))]);
  const roleBindingSet = methodsOf(openSteps(setStepsWith(parts)));
  const kinds: Record<StateKind, Methods> = {
    ...(Object.fromEntries(records) as Record<KindName, Methods>),
    roleBindingSet,
  };
  // For functions, which belong to no kind. Only a program calls them, so the configuration is its own.
  const programSession = async (): Promise<Session> => {
    requireConfig(await configured.promise, true);
    return connect();
  };
  return { kinds, session: programSession, ledger: getLedger, note: names.note };
};

/** The members of the inputs that say where the record is, and when its resource was new. */
const placeAndTime = (service: string, stamp: string | undefined): Json =>
  stamp === undefined ? { [SERVICE]: service } : atWith(service, stamp);

/** A dynamic resource names its secret arguments in a preview. Elsewhere they are not known: undefined. */
const secretAmong = (secrets: unknown): IsSecret | undefined =>
  Array.isArray(secrets) ? (names) => names.some((name) => secrets.includes(name)) : undefined;

// Read and delete of a dynamic resource receive only outputs, so these carry what locates the journal and the service. Its class is ours,
// and derives the group of the id. Of a native resource only the plugin knows what declares it.
const withKey = (
  { parent, [AT]: _at, ...outs }: Json,
  { [KEY]: key, [SERVICE]: service, [REPLACE_ON]: replaceOn, [FORMER]: former }: Json,
  hasParent = true,
): Json => ({
  ...outs,
  ...(hasParent && parent !== undefined && { parent }),
  ...(key !== undefined && { [KEY]: key }),
  ...(service !== undefined && { [SERVICE]: service }),
  ...(replaceOn !== undefined && { [REPLACE_ON]: replaceOn }),
  ...(former !== undefined && { [FORMER]: former }),
});
