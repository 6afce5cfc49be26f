// The composition root: store, clock, ids and keys in, addresses and close out. Nothing else creates a clock, an id or a
// key.
import { randomBytes } from "node:crypto";
import type { Json } from "../schema/index.ts";
import { type Cut, type Log, logOfRequests } from "./base/log.ts";
import { createMetrics } from "./base/metrics.ts";
import { createRateLimit, unlimited } from "./base/rate-limit.ts";
import { createAuthenticate, grantsOf, operator } from "./caller/caller.ts";
import { type Bounds, createBounds } from "./connection/bounds.ts";
import { createDevTools, type DevTools } from "./dev-server.ts";
import { createFaults, type FaultControl, type Faults, faultsPages } from "./faults/faults.ts";
import type { FaultScript } from "./faults/script.ts";
import type { GrpcOptions } from "./grpc/server.ts";
import { addressAdvice, checkOptions, isSplit, loadKeys, type ServerOptions } from "./options.ts";
import { DEV_ISSUER_PATH, homePages, issuerPages, openapiPage, operatorPages, unreadiness } from "./pages/pages.ts";
import { createPipeline } from "./pipeline/pipeline.ts";
import { audiencesOf, createPort, listen, urlOf } from "./port/port.ts";
import { local, pagesAt } from "./rest/page.ts";
import { createRouter } from "./rest/route.ts";
import type { HttpOptions } from "./rest/server.ts";
import type { CopySeed } from "./seed/copy.ts";
import type { Seed } from "./seed/record.ts";
import { ANYONE, ensureRecords } from "./seed/start.ts";
import { copyMarkOf, createDemandSeen, operatedIn, unlistedIn } from "./seed/unseen.ts";
import type { IdSource } from "./services/context.ts";
import { createIdentitySource, createRefreshFamilies } from "./services/token-records.ts";
import { openDatabase } from "./store/database.ts";
import { createPageTokens } from "./store/list.ts";
import { createStore, type Store } from "./store/store.ts";
import { createSts } from "./sts/index.ts";

export interface RunningServer {
  /** the addresses that clients use */
  baseUrl: string;
  authUrl: string;
  /** the addresses that it listens on; without `publicUrl` the ones above */
  localUrl: string;
  localAuthUrl: string;
  /** the development issuer, with `dev` */
  issuer?: string;
  /** uid of the organization of the seed or the copy; with `dev` and neither, of the development one */
  organization?: string;
  /** uid of the owner identity, with `dev` */
  identity?: string;
  /** uid of the identity that anyone may assume */
  anyone: string;
  /** the scripted failures and the report of attempts, with `faults` */
  faults?: Faults;
  /**
   * An API token of any identity, without an exchange: for this process, which holds the records anyway. With `claims`, only if the identity
   * accepts a workload with these; otherwise an ApiError.
   */
  tokenOf(identity: string, claims?: Json): Promise<string>;
  /**
   * With `twin`: an API token that acts as this identity, or as none, and that may do everything in the copied organizations. It is still that
   * identity: `Validate` names it, and it owns the organizations that it creates.
   */
  operatorToken?(identity: string | undefined): Promise<string>;
  /** Generates the next key for API tokens. It signs in ten minutes; the key before it is accepted for 70 minutes more. */
  rotateKeys(): Promise<void>;
  /** Takes no new requests, waits for those under way, ten seconds at most or until `cut`, and closes the store. */
  close(cut?: Cut): Promise<void>;
}

/** A server with `dev` contains an organization with an owner, and issues tokens. With `faults` it is `DevServer & { faults: Faults }`. */
export interface DevServer extends RunningServer, DevTools {
  issuer: string;
  organization: string;
  identity: string;
}

/** The fields that the options promise. Overloads, so that a misspelled option is still an error. */
interface CreateServer {
  (options: ServerOptions & { dev: true; faults: FaultScript }): Promise<DevServer & { faults: Faults }>;
  (options: ServerOptions & { dev: true }): Promise<DevServer>;
  (options: ServerOptions & { faults: FaultScript }): Promise<RunningServer & { faults: Faults }>;
  (options?: ServerOptions): Promise<RunningServer>;
}

const silent: Log = () => {};

const randomIds: IdSource = {
  root: () => randomBytes(20).toString("hex"),
  segment: () => randomBytes(8).toString("hex"),
};

/** Starts a server. Errors: ServerOptionsError, FaultsError, DatabaseError, SeedError, ListenError; nothing is left running. */
export const createServer = (async (options: ServerOptions = {}): Promise<RunningServer> => {
  const { host = "127.0.0.1", store: storeOrFile = ":memory:" } = options;
  const { publicUrl, publicAuthUrl } = checkOptions(options);
  const faults = options.faults && createFaults(options.faults, options.clock ?? Date.now);
  let store = typeof storeOrFile === "string" ? undefined : (storeOrFile as Store);
  const api = Promise.withResolvers<HttpOptions & GrpcOptions>();
  const auth = Promise.withResolvers<HttpOptions & GrpcOptions>();
  const split = isSplit(options);
  const bounds = createBounds(options, options.log ?? silent);
  const apiPort = createPort(split ? "api" : "both", api.promise, options.tls, bounds);
  const authPort = split ? createPort("auth", auth.promise, options.tls, bounds) : apiPort;
  let draining = false;
  const close = async (cut?: Cut) => {
    draining = true;
    const ports = [...new Set([apiPort, authPort])];
    await Promise.all([...ports.map((port) => port.close(cut)), faults?.drain(cut)]);
    store?.close();
  };
  try {
    await listen(apiPort.listener, options.port ?? 0, host);
    if (split) await listen(authPort.listener, options.authPort as number, host);
    // Only once it has the port: a server that cannot start leaves no new file behind.
    store ??= createStore(openDatabase(storeOrFile as string));
    const [localUrl, localAuthUrl] = [apiPort, authPort].map((port) =>
      urlOf(port.listener, host, options.tls ? "https" : "http"),
    ) as [string, string];
    const baseUrl = publicUrl ?? localUrl;
    const urls = { baseUrl, authUrl: publicAuthUrl ?? publicUrl ?? localAuthUrl };
    const { wires, apiPages, records } = compose(store, urls, options, faults, () => draining, bounds);
    api.resolve({
      ...wires,
      router: createRouter(split ? "api" : "both"),
      pages: split ? pagesAt(apiPages) : wires.pages,
    });
    auth.resolve({ ...wires, router: createRouter("auth") });
    return { ...urls, localUrl, localAuthUrl, ...records, ...(faults && { faults }), close };
  } catch (error) {
    await close();
    throw error;
  }
}) as CreateServer;

// From the store and the addresses to the options of the wires, and the uids of the records that the server created.
const compose = (
  store: Store,
  { baseUrl, authUrl }: Pick<RunningServer, "baseUrl" | "authUrl">,
  options: ServerOptions,
  faults: FaultControl | undefined,
  isDraining: () => boolean,
  bounds: Bounds,
) => {
  const { dev = false, clock = Date.now, ids = randomIds } = options;
  const { uniqueRoleBindings = false, withoutAntiEscalation = false } = options;
  const log = logOfRequests(options.log ?? silent);
  const advice = addressAdvice(options, baseUrl);
  if (advice) log("warn", "address", { message: advice });
  const keys = options.keys ?? loadKeys(store, clock, log);
  const pageTokens = createPageTokens(keys.pageTokenKey, clock);
  const issuer = dev ? `${authUrl}${DEV_ISSUER_PATH}` : undefined;

  const anyone = ANYONE;
  const identityRules = { loopback: dev, ownIssuer: authUrl, anyone, devIssuer: issuer };
  const shared = { log, store, ids, identityRules, uniqueRoleBindings, withoutAntiEscalation };
  const seed = options.seed as Seed | CopySeed | undefined;
  const { organization, identity } = ensureRecords(
    seed,
    { ...shared, tokens: pageTokens(operator), now: clock() },
    options.roles,
  );

  const copy = copyMarkOf(store);
  const unlisted = copy && unlistedIn(copy.unseen);
  const metrics = createMetrics(bounds);
  const sts = createSts({
    clock,
    authUrl,
    audiences: audiencesOf(baseUrl),
    dev,
    devIssuerUrl: issuer,
    devSigner: keys.devSigner,
    signer: keys.signer,
    anyone,
    isCopy: copy !== undefined,
    operators: options.twin === true,
    identities: createIdentitySource(store, log),
    capabilitiesOf: (uid) => grantsOf(store, uid),
    refreshFamilies: options.refreshTokens ? createRefreshFamilies(store, clock) : undefined,
    resolve: options.resolve,
    log: (event) => {
      log("info", "exchange", event);
      metrics.exchanged(event.reason);
    },
  });
  store.onLost(({ message }) => log("error", "database lost", { reason: message, advice: LOST_ADVICE }));
  const limit = options.rateLimit === undefined ? unlimited : createRateLimit(options.rateLimit, clock);
  const pipeline = createPipeline({
    store,
    authenticate: createAuthenticate(store, sts, clock, log, copy && operatedIn(store, copy.tops)),
    sts,
    limit,
    log,
    demandSeen: copy && createDemandSeen(store, copy.unseen, options.twin === true),
    onWrite: options.onWrite,
    context: (row, caller) => {
      const now = clock();
      const createdBy = faults?.createdBy(row, now);
      return { ...shared, tokens: pageTokens(caller), now, createdBy, unlisted };
    },
  });
  const onReset = () => {
    limit.reset();
    faults?.restart();
  };
  const tools = identity === undefined ? undefined : createDevTools({ sts, store, baseUrl, identity, onReset });
  const facts = { baseUrl, authUrl, issuer, organization, identity };
  const apiPages = {
    ...operatorPages({ store, metrics, isDraining, log }),
    ...openapiPage(),
    ...homePages({ ...facts, ownerToken: tools?.token }),
    ...(faults && faultsPages(faults)),
    // For tests of clients in other processes: brings back the records of the start.
    ...(tools && {
      "POST /dev/reset": local("the reset is", async () => {
        await tools.reset();
        return { http: 200, json: {} };
      }),
    }),
  };
  return {
    wires: {
      pipeline: faults?.around(pipeline, log) ?? pipeline,
      pages: pagesAt({ ...apiPages, ...issuerPages(sts) }),
      metrics,
      isDraining,
      isServing: () => unreadiness({ store, isDraining, log }) === undefined,
      strictBodies: options.strictBodies ?? false,
      clock,
      log,
      delivery: faults?.delivery,
    },
    apiPages,
    records: {
      anyone,
      tokenOf: sts.mintFor,
      ...(options.twin && { operatorToken: sts.mintOperator }),
      rotateKeys: keys.signer.rotate,
      ...(issuer && { issuer }),
      ...(organization && { organization }),
      ...(identity && { identity }),
      ...tools,
    },
  };
};

const LOST_ADVICE =
  "no request is answered any more; restore the database file, from a backup if need be, and restart the server (docs/server.md)";
