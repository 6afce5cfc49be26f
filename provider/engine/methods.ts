// The methods of every kind, as the engine calls them through either adapter: its dynamic provider (handler.ts), or the native plugin
// (plugin/). Each passes the gates of the run in order, and then calls the steps of the kind. Calls overlap.
import { serviceOf } from "../../client/config.ts";
import {
  AT,
  DRIFT_PREVIEW,
  missingText,
  type PlannedAdoption,
  SERVICE,
  withService,
} from "../../client/preview-marks.ts";
import { isOnTwins } from "../../client/run-file.ts";
import { engineProcess } from "../../pulumi/process.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { type KindName, kindRecords, type StateKind } from "../kind/index.ts";
import type * as reconcile from "../reconcile/index.ts";
import { placeAndTime, recordId, stampTextIn } from "../record/id.ts";
import {
  FORMER,
  isEmpty,
  KEY,
  membersOf,
  PREVIEW,
  PROVIDER,
  placeInKey,
  REPLACE_ON,
  SECRET_ARGUMENTS,
} from "../record/state.ts";
import { reportPendingCreates } from "../recovery/recover.ts";
import { sentencesWith } from "../run/sentences.ts";
import type { Environment, Session } from "../run/session.ts";
import { skipsCheckpoints } from "../run/stored-stack.ts";
import { missingFailure } from "./adoption.ts";
import { withoutLookUp } from "./look-up.ts";
import { openStacks, openStepsWith, uncheckedGate } from "./open-stacks.ts";
import { recordNames } from "./record-names.ts";
import { recordStepsWith } from "./record-steps.ts";
import { refreshOnce, reporterWith } from "./report.ts";
import { serviceGate } from "./service-gate.ts";
import { setStepsWith } from "./set-steps.ts";
import { connectionWith, notedRecords, type StackConfig } from "./shared-state.ts";
import type { Held, IsSecret, LookedUp, NotFound, StepParts, Steps } from "./steps.ts";

/** The state that the methods of a process share. */
const partsOf = (environment: Environment, looksUp: boolean) => {
  const { env, log, masked, cwd = process.cwd() } = environment;
  const connection = connectionWith(environment);
  const records = notedRecords();
  const gate = serviceGate(connection, environment);
  const sentences = sentencesWith({ log, masked, engine: environment.engine ? engineProcess : () => undefined });
  const names = recordNames(connection);
  const stepParts: StepParts = {
    ...connection,
    log,
    sentence: sentences.log,
    cwd,
    names,
    isDeclared: records.isDeclared,
  };
  return {
    env,
    log,
    /**
     * The check looks up the records that the program names. Otherwise the program has done so itself (provider/program), except for a file
     * beside it (adoption.ts).
     */
    looksUp,
    connection,
    records,
    sentences,
    names,
    gate,
    /** of a run without checkpoints */
    unchecked: skipsCheckpoints(env) ? uncheckedGate({ ...connection, env, cwd, log }) : undefined,
    open: openStacks(stepParts, gate.offline),
    refresh: refreshOnce(),
    stepParts,
  };
};

type ProviderParts = ReturnType<typeof partsOf>;
export type Provider = ReturnType<typeof providerWith>;
export type Methods = ReturnType<typeof methodsWithSteps>;

/** One process serves all kinds with the configuration of the first configure. */
export const methodsWith = (environment: Environment): Record<StateKind, Methods> => providerWith(environment).kinds;

export const providerWith = (environment: Environment, { looksUp = false } = {}) => {
  const parts = partsOf(environment, looksUp);
  const { connection, names, open, stepParts } = parts;
  const report = reporterWith(environment);
  const openSteps = openStepsWith(open, stepParts);
  const recordSteps = recordStepsWith(stepParts);
  // Errors are messages for a reader.
  const methodsOf = (steps: Steps) =>
    withEach(methodsWithSteps(parts, openSteps(steps)), (run, args) =>
      run().catch((error: unknown) => {
        throw report(error, args);
      }),
    );
  const ofRecords = Object.entries(kindRecords).map(([name, kind]) => [name, methodsOf(recordSteps(kind))]);
  const kinds: Record<StateKind, Methods> = {
    ...(Object.fromEntries(ofRecords) as Record<KindName, Methods>),
    roleBindingSet: methodsOf(setStepsWith(stepParts)),
  };
  return { kinds, session: connection.connectProgram, ledger: connection.ledger, note: names.note };
};

/** The methods, each of which `call` runs. */
export const withEach = (
  methods: Methods,
  call: (run: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>,
): Methods =>
  Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      (...args: unknown[]) => call(() => (method as (...given: unknown[]) => Promise<unknown>)(...args), args),
    ]),
  ) as unknown as Methods;

/** Each method in order: checks of the state and the run, then the verb. */
const methodsWithSteps = (parts: ProviderParts, steps: Steps) => ({
  configure: async ({ config }: { config: StackConfig }): Promise<void> => parts.connection.configure(config),
  /**
   * Returns the inputs in the API's spelling, and all problems. It reports a wrong configuration in the preview, which needs no credentials.
   * `isSecret`: whether one of these arguments is secret, if the adapter knows. `showsNames`: it is known which names the program marks as
   * secret, so all others are not secret.
   */
  check: async (
    olds: Json,
    given: Json,
    isSecret?: IsSecret,
    showsNames?: boolean,
  ): Promise<{ inputs: Json; failures: reconcile.CheckFailure[] }> => {
    const { connection, looksUp, records, gate, sentences, unchecked, open } = parts;
    const { [PREVIEW]: isPreview, [SECRET_ARGUMENTS]: secrets, ...news } = given;
    const isNew = isEmpty(olds);
    // Only programs in TypeScript report whether the run is an update or a preview; dynamic resources exist only there.
    const isUpdate = isPreview === undefined && looksUp ? undefined : isPreview !== true;
    // A dynamic resource names its secret arguments in a preview. In other runs they are unknown.
    const named: IsSecret | undefined = Array.isArray(secrets)
      ? (names) => names.some((name) => secrets.includes(name))
      : undefined;
    const hides = isSecret ?? named;
    records.declared.add(news[KEY]);

    // Each throws if the run must not continue.
    await connection.requireUsable();
    if (!isNew) await requireAddress(parts, withService(olds));
    if (gate.offline.reason) await gate.offline.hold();
    sentences.noteRun(isUpdate === undefined ? undefined : !isUpdate);
    if (isUidp(olds.parent)) await gate.organization(olds.parent, { isUpdate });
    // A group that the same update creates does not exist yet.
    if (isNew && isUidp(news.parent)) await gate.newPlace(news.parent, { isUpdate });
    if (isUpdate !== false && (await connection.hasCredentials())) await gate.reachable({ isUpdate });
    if (isUpdate !== undefined) await unchecked?.expect(news[KEY], isUpdate);
    await open.look(news[KEY], isUpdate);

    const found = await steps.lookUp(olds, news, { looksUp, offline: gate.offline, isSecret: hides });
    const asked = { olds, news, isUpdate };
    const looked = found.missing === undefined ? found : withoutRecord(parts, asked, found, found.missing);
    const { inputs, failures } = await steps.check(olds, looked.news, {
      isSecret: hides,
      showsNames: showsNames ?? isPreview === true,
    });
    const problems = [...failures, ...looked.failures];
    if (isNew && gate.offline.reason) gate.offline.expectStep();
    const isPlanned = isPreview === true && !looksUp && isNew && problems.length === 0;
    const taken = isPlanned ? await steps.planned(inputs) : undefined;
    // The engine calls no create in a preview, and takes the inputs of a dynamic resource for its outputs.
    const uid = isPlanned ? await steps.knownUid(inputs, taken) : undefined;
    const isStamped = isPreview !== true && (isNew || steps.createsMore(olds, inputs));
    const stamp = (isStamped ? connection.newStamp() : undefined) ?? stampTextIn(olds);
    const place = placeAndTime(serviceOf((await connection.config()).baseUrl), stamp);
    return {
      inputs: { ...inputs, ...looked.shown, ...place, ...(uid !== undefined && { uid }) },
      failures: problems.map(({ property, reason }) => ({ property, reason })),
    };
  },
  diff: async (id: string, olds: Json, news: Json): Promise<reconcile.DiffResult> => {
    const { connection, records, refresh, gate, looksUp } = parts;
    const held = steps.held(id, olds, news);
    const ledger = await connection.ledger();
    await records.noteInState(ledger, held, news[KEY]);
    if (refresh.isUnread(id)) return { changes: false, replaces: [] };
    await requireAddress(parts, olds);
    await gate.organization(id);
    const compared = await steps.diff(id, olds, news);
    // A refresh compares with the inputs of the state: it is not known yet which records the program keeps.
    if (compared.replaces.length === 0 && records.isDeclared(news[KEY]))
      for (const { kind, uid, kept } of held) if (kept) ledger.ownership.keep(recordId(kind.field, uid), kept.adopted);
    // A native resource, which had no handler, or the service has moved. The update stores the handler and the address, and sends
    // nothing.
    const isStale = (!looksUp && olds[PROVIDER] === undefined) || (await connection.isMoved(olds));
    const changes = compared.changes || isStale;
    if (changes) gate.offline.expectStep();
    else gate.offline.expectNone();
    return { ...compared, changes };
  },
  /** A preview shows a create. Logs notices for its reader, and returns the record that the update adopts instead. */
  planned: async (inputs: Json): Promise<PlannedAdoption | undefined> => {
    parts.gate.offline.noteShown();
    return steps.planned(inputs);
  },
  /** A preview shows an update. */
  plannedUpdate: async (): Promise<void> => parts.gate.offline.noteShown(),
  create: async (inputs: Json): Promise<{ id: string; outs: Json }> => {
    const { connection, gate, unchecked } = parts;
    if (connection.stopped.reason) throw connection.stopped.reason;
    if (gate.offline.reason) gate.offline.carriedOut();
    await unchecked?.require(inputs[KEY]);
    const session = await connection.connect();
    const { id, outs } = await steps.create(session, inputs);
    const here = inputs[AT] === undefined ? inputs : { ...inputs, [SERVICE]: session.service };
    return { id, outs: withKey(outs, here, parts.looksUp || !steps.derivesParent) };
  },
  /** `inputs` are those in the state, if the adapter gets them: they stay unchanged while they describe the record. */
  read: (id: string, stored: Json, inputs?: Json): Promise<reconcile.ReadResult> => {
    const isRefresh = parts.records.declaresNothing();
    return parts.refresh.read(id, stored, isRefresh, () => read(parts, steps, id, stored, { inputs, isRefresh }));
  },
  update: async (id: string, olds: Json, news: Json): Promise<{ outs: Json }> => {
    const { connection, records, gate, unchecked } = parts;
    gate.offline.carriedOut();
    await unchecked?.require(news[KEY]);
    const session = await connection.connect();
    await records.noteInState(session, steps.held(id, olds), news[KEY]);
    const { outs } = await steps.update(session, id, olds, news);
    return { outs: withKey(outs, { ...news, ...withService(news) }, parts.looksUp || !steps.derivesParent) };
  },
  delete: async (id: string, stored: Json): Promise<void> => {
    const { records, gate, unchecked, open } = parts;
    await requireAddress(parts, stored);
    const { [KEY]: key } = stored;
    await unchecked?.require(key);
    await open.look(key, true);
    const session = await sessionFor(parts, steps.held(id, stored), stored);
    if (typeof key === "string" && (await session.journal.isBehind(key))) await open.removeLost(key);
    const isDestroy = records.declaresNothing();
    if (isDestroy) await open.clear();
    await steps.delete(session, id, stored).catch((error) => gate.explain(id, error));
    if (isDestroy) await open.clear();
  },
});

/** After a look-up that found no record for `adopt`. */
const withoutRecord = (
  { env, log }: ProviderParts,
  { olds, news, isUpdate }: { olds: Json; news: Json; isUpdate: boolean | undefined },
  looked: LookedUp,
  missing: NotFound,
): LookedUp => {
  const isOnService = isUpdate === true && !isOnTwins(env);
  if (isOnService || !env[DRIFT_PREVIEW]) return { ...looked, failures: [missingFailure(missing, news)] };
  log(missingText(placeInKey(news[KEY]), missing.reason));
  // The create of an update then fails: it adopts, and sends no POST. A failure here would end the whole run.
  return isEmpty(olds) ? withoutLookUp(olds, { ...looked.news, adopt: missing.adopt }) : looked;
};

const read = async (
  parts: ProviderParts,
  steps: Steps,
  id: string,
  stored: Json,
  { inputs, isRefresh }: reconcile.Reading,
): Promise<reconcile.ReadResult> => {
  const { gate, open } = parts;
  await requireAddress(parts, stored);
  await open.look(stored[KEY], true);
  const session = await sessionFor(parts, steps.held(id, stored), stored);
  const about = { inputs, isRefresh: isRefresh === true && typeof stored[KEY] === "string" };
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
};

/** The state is from this address, or the move is confirmed. */
const requireAddress = async ({ connection, gate }: ProviderParts, stored: Json) => {
  if (await connection.isMoved(stored)) await gate.requireMove(stored);
};

/** The session of a read or a delete, which reports the creates that earlier runs left open. */
const sessionFor = async (
  { connection, records }: ProviderParts,
  held: readonly Held[],
  stored: Json,
): Promise<Session> => {
  const session = await connection.connect();
  await records.noteInState(session, held, stored[KEY]);
  // A state that a person edited may lack the key.
  const pending = typeof stored[KEY] === "string" ? await session.journal.takeUnreported(stored[KEY]) : [];
  if (pending.length > 0) await reportPendingCreates(session, pending);
  return session;
};

// Read and delete of a dynamic resource receive only outputs, so these locate the journal and the service. Its class is ours, and derives
// the group from the id. Only the plugin knows which class or language declares a native resource.
const withKey = ({ parent, [AT]: _at, ...outs }: Json, bag: Json, hasParent = true): Json => {
  return {
    ...outs,
    ...(hasParent && parent !== undefined && { parent }),
    ...membersOf(bag, [KEY, SERVICE, REPLACE_ON, FORMER]),
  };
};
