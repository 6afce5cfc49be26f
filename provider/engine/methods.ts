// The methods that the engine's dynamic provider calls, for every kind. Its calls overlap, and it calls methods of a
// provider whose configure has not finished (@pulumi/pulumi/cmd/dynamic-provider/index.ts): so each waits for the
// configuration.

import { type Config, type GetConfig, type Given, serviceOf, unknownKeys } from "../../client/config.ts";
import { checkedConfig, missingCredentials } from "../../client/credentials.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { type KindName, kindRecords } from "../kind/index.ts";
import type { Kind } from "../kind/kind.ts";
import { recordId } from "../kind/record.ts";
import * as reconcile from "../reconcile/diff.ts";
import { tellOpenCreates } from "../recovery/unreported.ts";
import { isMoved } from "../session/service-address.ts";
import { type Ledger, ledgerWith, type Outside, type Session, sessionWith } from "../session/session.ts";
import { KEY, PREVIEW, PROVIDER, SERVICE } from "../state/state.ts";
import { reporterWith } from "./report.ts";
import { type Review, reviewWith } from "./review.ts";
import { serviceGate } from "./service-gate.ts";
import { twins } from "./twins.ts";

/** As the SDK's provider gives it. What is optional here is its own, and not promised: without it misspelt keys are not told. */
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

/** One process serves all kinds with one configuration: the first configure settles it. */
export const methodsWith = (outside: Outside): Record<KindName, Methods> => {
  const readable = reporterWith(outside);
  const hasCredentials = missingCredentials(outside.env) === undefined;
  const configured = Promise.withResolvers<{ get: GetConfig; given: Given }>();
  let hasWarned = false;
  let ledger: Ledger | undefined;
  let session: Session | undefined;

  const config = async (): Promise<Config> => checkedConfig((await configured.promise).get, outside.env);
  // In a check alone: what a state holds must be read and deleted whatever its configuration says besides.
  const checkKeys = async (): Promise<void> => {
    const { get, given } = await configured.promise;
    checkedConfig(get, outside.env, given);
    if (!hasWarned) for (const warning of unknownKeys(given).warnings) outside.say(warning);
    hasWarned = true;
  };
  const connected = async (): Promise<Session> => {
    const settled = await config();
    ledger ??= ledgerWith(settled, outside);
    session ??= gate.guarded(sessionWith(settled, outside, ledger));
    return session;
  };
  const gate = serviceGate({ config, connected, hasCredentials, say: outside.say });
  // The engine has the record in its state; `owner` is the key of the resource that declares it.
  const inState = async (kind: Kind, id: string, key: unknown, owner?: string): Promise<void> => {
    ledger ??= ledgerWith(await config(), outside);
    ledger.claims.inState(recordId(kind.field, id), owner);
    await ledger.journal.known(kind.field, id, key as string | undefined);
  };

  // The key in a state may be of a name that the resource had before: it says where the journal is, not whose the record is.
  const about = async (kind: Kind, id: string, { [KEY]: key }: Json): Promise<Session> => {
    await inState(kind, id, key);
    return connected();
  };
  const aboutAlone = async (kind: Kind, id: string, stored: Json): Promise<Session> => {
    const own = await about(kind, id, stored);
    // A state of an earlier version has no key.
    if (typeof stored[KEY] === "string") await tellOpenCreates(own, stored[KEY]);
    return own;
  };

  const existing = twins();
  // Only where there are credentials: a preview works without them.
  const twinText = async (kind: Kind, inputs: Json): Promise<string | undefined> =>
    missingCredentials(outside.env) ? undefined : existing.textOf(kind, await connected(), inputs);

  // Two resources that adopt one record, or one that adopts what another has: the preview refuses it already.
  const adoptionProblems = async (kind: Kind, { adopt, [KEY]: key }: Json): Promise<reconcile.CheckFailure[]> => {
    if (!isUidp(adopt) || typeof key !== "string") return [];
    ledger ??= ledgerWith(await config(), outside);
    const reason = ledger.claims.plan(recordId(kind.field, adopt), key);
    return reason === undefined ? [] : [{ property: "adopt", reason: `${kind.word} ${adopt} ${reason}` }];
  };

  const review = reviewWith(outside.say);
  const reviewOf = (kind: Kind): Review | undefined => (kind === kindRecords.roleBinding ? review : undefined);

  const methodsOf = (kind: Kind): Methods => ({
    // Never throws: the engine would call the other methods all the same. They report what is wrong.
    configure: async ({ config }) => {
      const given = { keys: Object.keys(config.rawConfig ?? {}), project: config.projectName };
      configured.resolve({ get: (key) => config.get(key), given });
    },
    // A wrong configuration shows in the preview; credentials are not needed for one.
    check: readable(async (olds, { [PREVIEW]: isPreview, ...news }) => {
      await checkKeys();
      await gate.address(olds);
      if (isUidp(olds.parent)) await gate.organization(olds.parent);
      const { inputs, failures } = reconcile.check(kind, olds, news);
      if (failures.length === 0) {
        failures.push(...(await adoptionProblems(kind, inputs)));
        reviewOf(kind)?.checked(olds, inputs);
        const text = isPreview === true && Object.keys(olds).length === 0 ? await twinText(kind, inputs) : undefined;
        if (text !== undefined) outside.say(text);
      }
      return { inputs: { ...inputs, [SERVICE]: serviceOf((await config()).baseUrl) }, failures };
    }),
    diff: readable(async (id, olds, news) => {
      const key = news[KEY] as string | undefined;
      await inState(kind, id, key, key);
      await gate.address(olds);
      await gate.organization(id);
      const compared = reconcile.diff(kind, id, olds, news);
      // Another kind of provider has written the state, or the service has moved: an update stores what finds this code, and
      // the service, again, and sends nothing.
      const isStale = olds[PROVIDER] === undefined || isMoved(await config(), olds);
      const result = { ...compared, changes: compared.changes || isStale };
      if (result.replaces.length === 0) ledger?.claims.keep(recordId(kind.field, id), olds.adopted === true);
      if (result.warning) outside.say(result.warning);
      reviewOf(kind)?.compared(olds, news);
      return result;
    }),
    create: readable(async (inputs) => {
      gate.open();
      const { id, outs } = await reconcile.create(kind, await connected(), inputs);
      return { id, outs: keyed(outs, inputs) };
    }),
    read: readable(async (id, stored) => {
      await gate.address(stored);
      const own = await aboutAlone(kind, id, stored);
      const result = await reconcile.read(kind, own, id, stored).catch((error) => gate.explain(id, error));
      if (result.id === "") return result;
      const here = { [SERVICE]: serviceOf((await config()).baseUrl) };
      return {
        ...result,
        props: keyed(result.props, { ...stored, ...here }),
        inputs: { ...result.inputs, ...here },
      };
    }),
    update: readable(async (id, olds, news) => {
      const { outs } = await reconcile.update(kind, await about(kind, id, news), id, olds, news);
      return { outs: keyed(outs, news) };
    }),
    delete: readable(async (id, stored) => {
      await gate.address(stored);
      const own = await aboutAlone(kind, id, stored);
      const isGone = await reconcile.remove(kind, own, id, stored).catch((error) => gate.explain(id, error));
      if (isGone) reviewOf(kind)?.removed(stored);
    }),
  });

  const entries = Object.entries(kindRecords).map(([name, kind]) => [name, methodsOf(kind)]);
  return Object.fromEntries(entries) as Record<KindName, Methods>;
};

// Who reads or deletes is given outputs only, and must find the journal and the service too.
const keyed = (outs: Json, { [KEY]: key, [SERVICE]: service }: Json): Json => ({
  ...outs,
  ...(key !== undefined && { [KEY]: key }),
  ...(service !== undefined && { [SERVICE]: service }),
});
