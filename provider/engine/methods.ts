// The methods that the engine's dynamic provider calls, for every kind. Its calls overlap, and it calls methods before configure
// has finished (@pulumi/pulumi/cmd/dynamic-provider/index.ts), so each method waits for the configuration.
import { type Config, type GetConfig, type ParsedConfig, parseConfig, serviceOf } from "../../client/config.ts";
import { missingCredentials, requireConfig } from "../../client/credentials.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { type KindName, kindRecords } from "../kind/index.ts";
import type { Kind } from "../kind/kind.ts";
import { recordId } from "../kind/record.ts";
import * as reconcile from "../reconcile/index.ts";
import { reportPendingCreates } from "../recovery/recover.ts";
import { type Environment, type Ledger, ledgerWith, type Session, sessionWith } from "../session/session.ts";
import { KEY, PREVIEW, PROVIDER, SERVICE } from "../state/state.ts";
import { duplicateWarnings } from "./duplicate-warning.ts";
import { reporterWith } from "./report.ts";
import { type Review, reviewWith } from "./review.ts";
import { isMoved, serviceGate } from "./service-gate.ts";

/** What the SDK's provider passes. The optional members are undocumented; without them misspelt keys are not reported. */
interface StackConfig {
  get: GetConfig;
  rawConfig?: Readonly<Record<string, unknown>>;
  projectName?: string;
}

export interface Methods {
  configure(request: { config: StackConfig }): Promise<void>;
  check(olds: Json, news: Json): Promise<{ inputs: Json; failures: reconcile.CheckFailure[] }>;
  diff(id: string, olds: Json, news: Json): Promise<reconcile.DiffResult>;
  create(inputs: Json): Promise<{ id: string; outs: Json }>;
  read(id: string, stored: Json): Promise<reconcile.ReadResult>;
  update(id: string, olds: Json, news: Json): Promise<{ outs: Json }>;
  delete(id: string, stored: Json): Promise<void>;
}

/** One process serves all kinds with the configuration of the first configure. */
export const methodsWith = (environment: Environment): Record<KindName, Methods> => {
  const { env, log } = environment;
  const reported = reporterWith(environment);
  const hasCredentials = missingCredentials(env) === undefined;
  const configured = Promise.withResolvers<ParsedConfig>();
  let isConfigured = false;
  let hasWarned = false;
  let ledger: Ledger | undefined;
  let session: Session | undefined;

  // Not strict: a misspelt key must not prevent reading or deleting what a state holds.
  const config = async (): Promise<Config> => requireConfig(await configured.promise, env, false);
  const checkConfig = async (): Promise<void> => {
    const parsed = await configured.promise;
    requireConfig(parsed, env, true);
    if (!hasWarned) for (const warning of parsed.warnings) log(warning);
    hasWarned = true;
  };
  const getLedger = async (): Promise<Ledger> => {
    const settings = await config();
    ledger ??= ledgerWith(settings, environment);
    return ledger;
  };
  const connect = async (): Promise<Session> => {
    const [settings, own] = [await config(), await getLedger()];
    session ??= gate.guarded(sessionWith(settings, environment, own));
    return session;
  };
  const gate = serviceGate({ config, connect, hasCredentials, log });
  // The state has the record; `owner` is the resource that declares it.
  const noteInState = async (kind: Kind, id: string, key: unknown, owner?: string): Promise<void> => {
    const { ownership, journal } = await getLedger();
    ownership.inState(recordId(kind.field, id), owner);
    await journal.acknowledge(kind.field, id, key as string | undefined);
  };

  // The key in a state may be an earlier name of the resource. It locates the journal, but proves no ownership.
  const sessionFor = async (kind: Kind, id: string, { [KEY]: key }: Json): Promise<Session> => {
    await noteInState(kind, id, key);
    return connect();
  };
  const reportingSessionFor = async (kind: Kind, id: string, stored: Json): Promise<Session> => {
    const own = await sessionFor(kind, id, stored);
    // A state of an earlier version has no key.
    if (typeof stored[KEY] === "string") await reportPendingCreates(own, stored[KEY]);
    return own;
  };

  const duplicates = duplicateWarnings();
  // Only where there are credentials: a preview works without them.
  const duplicateWarning = async (kind: Kind, inputs: Json): Promise<string | undefined> =>
    hasCredentials ? duplicates.warningOf(kind, await connect(), inputs) : undefined;

  // So the preview already refuses a record that two resources adopt, or that another resource manages.
  const adoptionProblems = async (kind: Kind, { adopt, [KEY]: key }: Json): Promise<reconcile.CheckFailure[]> => {
    if (!isUidp(adopt) || typeof key !== "string") return [];
    const reason = (await getLedger()).ownership.plan(recordId(kind.field, adopt), key);
    return reason === undefined ? [] : [{ property: "adopt", reason: `${kind.word} ${adopt} ${reason}` }];
  };

  const review = reviewWith(log);
  const reviewOf = (kind: Kind): Review | undefined => (kind === kindRecords.roleBinding ? review : undefined);

  const methodsOf = (kind: Kind): Methods => ({
    // Never throws: the engine would call the other methods all the same, and they report the problems.
    configure: async ({ config }) => {
      if (isConfigured) return;
      isConfigured = true;
      const given = { keys: Object.keys(config.rawConfig ?? {}), project: config.projectName };
      configured.resolve(parseConfig((key) => config.get(key), env, given));
    },
    // Reports a wrong configuration in the preview, which needs no credentials.
    check: reported(async (olds, { [PREVIEW]: isPreview, ...news }) => {
      await checkConfig();
      await gate.address(olds);
      if (isUidp(olds.parent)) await gate.organization(olds.parent);
      const { inputs, failures } = reconcile.check(kind, olds, news);
      if (failures.length === 0) {
        failures.push(...(await adoptionProblems(kind, inputs)));
        reviewOf(kind)?.checked(olds, inputs);
        const text =
          isPreview === true && Object.keys(olds).length === 0 ? await duplicateWarning(kind, inputs) : undefined;
        if (text !== undefined) log(text);
      }
      return { inputs: { ...inputs, [SERVICE]: serviceOf((await config()).baseUrl) }, failures };
    }),
    diff: reported(async (id, olds, news) => {
      const key = news[KEY] as string | undefined;
      await noteInState(kind, id, key, key);
      await gate.address(olds);
      await gate.organization(id);
      const compared = reconcile.diff(kind, id, olds, news);
      // Another kind of provider wrote the state, or the service has moved. The update stores the handler and the address, and
      // sends nothing.
      const isStale = olds[PROVIDER] === undefined || isMoved(await config(), olds);
      const result = { ...compared, changes: compared.changes || isStale };
      if (result.replaces.length === 0) ledger?.ownership.keep(recordId(kind.field, id), olds.adopted === true);
      if (result.warning) log(result.warning);
      reviewOf(kind)?.compared(olds, news);
      return result;
    }),
    create: reported(async (inputs) => {
      gate.open();
      const { id, outs } = await reconcile.create(kind, await connect(), inputs);
      return { id, outs: keyed(outs, inputs) };
    }),
    read: reported(async (id, stored) => {
      await gate.address(stored);
      const own = await reportingSessionFor(kind, id, stored);
      const result = await reconcile.read(kind, own, id, stored).catch((error) => gate.explain(id, error));
      if (result.id === "") return result;
      const here = { [SERVICE]: serviceOf((await config()).baseUrl) };
      return {
        ...result,
        props: keyed(result.props, { ...stored, ...here }),
        inputs: { ...result.inputs, ...here },
      };
    }),
    update: reported(async (id, olds, news) => {
      const { outs } = await reconcile.update(kind, await sessionFor(kind, id, news), id, olds, news);
      return { outs: keyed(outs, news) };
    }),
    delete: reported(async (id, stored) => {
      await gate.address(stored);
      const own = await reportingSessionFor(kind, id, stored);
      const isDeleted = await reconcile.remove(kind, own, id, stored).catch((error) => gate.explain(id, error));
      if (isDeleted) reviewOf(kind)?.removed(stored);
    }),
  });

  const entries = Object.entries(kindRecords).map(([name, kind]) => [name, methodsOf(kind)]);
  return Object.fromEntries(entries) as Record<KindName, Methods>;
};

// Read and delete receive only outputs, so these carry what locates the journal and the service.
const keyed = (outs: Json, { [KEY]: key, [SERVICE]: service }: Json): Json => ({
  ...outs,
  ...(key !== undefined && { [KEY]: key }),
  ...(service !== undefined && { [SERVICE]: service }),
});
