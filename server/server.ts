// The composition root: store, clock, ids and keys in, addresses and close out. Nothing else makes a clock, an id or a key.
import { randomBytes } from "node:crypto";
import { createAuthenticate } from "./authenticate.ts";
import { grantsOf, operator } from "./authorize.ts";
import { createDevTools, type DevTools } from "./dev-server.ts";
import { createFaults, type FaultControl, type Faults } from "./faults/faults.ts";
import { faultsPage } from "./faults/page.ts";
import type { FaultScript } from "./faults/script.ts";
import type { GrpcOptions } from "./grpc/server.ts";
import { loadKeys, type ServerKeys } from "./keys.ts";
import type { Log } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { addressAdvice, checkOptions, isSplit } from "./options.ts";
import { homePages } from "./pages/home.ts";
import { DEV_ISSUER_PATH, issuerPages } from "./pages/issuer.ts";
import { openapiPage } from "./pages/openapi.ts";
import { operatorPages, unreadiness } from "./pages/operator.ts";
import { resetPage } from "./pages/reset.ts";
import { createPipeline } from "./pipeline.ts";
import { type BoundOptions, type Bounds, createBounds } from "./port/bounds.ts";
import { audiencesOf, listen, urlOf } from "./port/listen.ts";
import { createPort } from "./port/port.ts";
import type { TlsKeys } from "./port/tls.ts";
import { createRateLimit, resettable, unlimited } from "./rate-limit.ts";
import { logOfRequests } from "./request.ts";
import { createRouter } from "./rest/route.ts";
import type { HttpOptions } from "./rest/server.ts";
import { applySeed } from "./seed/apply.ts";
import { ensureAnyone, ensureDevOrganization } from "./seed/bootstrap.ts";
import type { ParsedSeed, Seed } from "./seed/record.ts";
import { ensureBuiltInRoles } from "./services/built-in-role.ts";
import type { IdSource } from "./services/context.ts";
import { identitiesWith, identityFrom } from "./services/identity.ts";
import { openDatabase } from "./store/database.ts";
import { passingFailure } from "./store/failure.ts";
import { createPageTokens } from "./store/page-token.ts";
import { createRefreshFamilies } from "./store/refresh-family.ts";
import { identities } from "./store/shape.ts";
import { createStore, type OpenStore, type Store } from "./store/store.ts";
import { createSts, type StsOptions } from "./sts/index.ts";
import type { Resolve } from "./sts/issuer/address.ts";

export interface ServerOptions extends BoundOptions {
  /** SQLite file, or a store that is open already; default `:memory:` */
  store?: string | OpenStore;
  /** address to listen on; default 127.0.0.1 */
  host?: string;
  /** default 0: any free port */
  port?: number;
  /** port of the token exchange and the issuer, 0 for any free one; default: the same port */
  authPort?: number;
  /** certificate and key; default: no TLS */
  tls?: TlsKeys;
  /** scheme, host and port that clients use, where they are not those listened on; default: those */
  publicUrl?: string;
  /** the same of the token exchange and the issuer; default: `publicUrl` */
  publicAuthUrl?: string;
  /** development issuer, an organisation with an owner, loopback issuers; on a loopback host only */
  dev?: boolean;
  /** records to start with, from `parseSeed` */
  seed?: ParsedSeed;
  /** milliseconds since the epoch; default `Date.now` */
  clock?: () => number;
  /** default: random */
  ids?: IdSource;
  /** default: made once and kept in the store */
  keys?: ServerKeys;
  /** default: no log */
  log?: Log;
  /** requests a second that one caller may make; default: as many as it likes */
  rateLimit?: number;
  /** a second binding of one identity to one role in one group is ALREADY_EXISTS (docs/contract.md#d19); default: allowed */
  uniqueRoleBindings?: boolean;
  /** an exchange also gives a refresh token; default: none is given and none is taken */
  refreshTokens?: boolean;
  /** a body with a field that does not exist is INVALID_ARGUMENT; default: the field is ignored */
  strictBodies?: boolean;
  /** scripted failures, for tests of clients; on a loopback host only; default: none, nor a way to ask for any */
  faults?: FaultScript;
  /** the name service by which issuers are found; default: DNS */
  resolve?: Resolve;
}

export interface RunningServer {
  /** the addresses that clients use */
  baseUrl: string;
  authUrl: string;
  /** the addresses that it listens on; they are those above unless `publicUrl` is given */
  localUrl: string;
  localAuthUrl: string;
  /** the development issuer, with `dev` */
  issuer?: string;
  /** uid of the organisation: of the seed, or with `dev` the development one */
  organization?: string;
  /** uid of the owner identity, with `dev` */
  identity?: string;
  /** uid of the identity that anyone may assume */
  anyone: string;
  /** the scripted failures and the report of attempts, with `faults` */
  faults?: Faults;
  /** Makes the next key for API tokens: it signs in ten minutes, and the one before it is taken for 70 more. */
  rotateKeys(): Promise<void>;
  /** takes no new requests, waits for those under way, ten seconds at most or until `cut`, closes the store */
  close(cut?: AbortSignal): Promise<void>;
}

/** A server with `dev`: it has an organisation with an owner, and gives tokens. */
export interface DevServer extends RunningServer, DevTools {
  issuer: string;
  organization: string;
  identity: string;
}

/** What the options promise is there. Overloads, so that a misspelt option is still an error. */
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
  const { host = "127.0.0.1" } = options;
  const { publicUrl, publicAuthUrl } = checkOptions(options);
  const faults = options.faults && createFaults(options.faults, options.clock ?? Date.now);
  const { store: storeOrFile = ":memory:" } = options;
  const store = typeof storeOrFile === "string" ? createStore(openDatabase(storeOrFile)) : (storeOrFile as Store);
  const api = Promise.withResolvers<HttpOptions & GrpcOptions>();
  const auth = Promise.withResolvers<HttpOptions & GrpcOptions>();
  const split = isSplit(options);
  const bounds = createBounds(options, options.log ?? silent);
  const apiPort = createPort(split ? "api" : "both", api.promise, options.tls, bounds);
  const authPort = split ? createPort("auth", auth.promise, options.tls, bounds) : apiPort;
  let draining = false;
  const close = async (cut?: AbortSignal) => {
    draining = true;
    const ports = [...new Set([apiPort, authPort])];
    await Promise.all([...ports.map((port) => port.close(cut)), faults?.drain(cut)]);
    store.close();
  };
  try {
    await listen(apiPort.listener, options.port ?? 0, host);
    if (split) await listen(authPort.listener, options.authPort as number, host);
    const [localUrl, localAuthUrl] = [apiPort, authPort].map((port) =>
      urlOf(port.listener, host, options.tls ? "https" : "http"),
    ) as [string, string];
    const baseUrl = publicUrl ?? localUrl;
    const urls = { baseUrl, authUrl: publicAuthUrl ?? publicUrl ?? localAuthUrl };
    const { wires, apiPages, records } = compose(store, urls, options, faults, () => draining, bounds);
    api.resolve({ ...wires, router: createRouter(split ? "api" : "both"), ...(split && { pages: apiPages }) });
    auth.resolve({ ...wires, router: createRouter("auth") });
    return { ...urls, localUrl, localAuthUrl, ...records, ...(faults && { faults }), close };
  } catch (error) {
    await close();
    throw error;
  }
}) as CreateServer;

// From the store and the addresses to what a listener needs, and the uids of the records that the server made.
const compose = (
  store: Store,
  { baseUrl, authUrl }: Pick<RunningServer, "baseUrl" | "authUrl">,
  options: ServerOptions,
  faults: FaultControl | undefined,
  isDraining: () => boolean,
  bounds: Bounds,
) => {
  const { dev = false, clock = Date.now, ids = randomIds, seed, uniqueRoleBindings = false } = options;
  const log = logOfRequests(options.log ?? silent);
  const advice = addressAdvice(options, baseUrl);
  if (advice) log("warn", "address", { message: advice });
  const keys = options.keys ?? loadKeys(store, clock, log);
  const issuer = dev ? `${authUrl}${DEV_ISSUER_PATH}` : undefined;
  ensureBuiltInRoles(store, clock());
  const anyone = ensureAnyone(store, clock());
  const pageTokens = createPageTokens(keys.pageTokenKey, clock);
  const identityRules = { loopback: dev, ownIssuer: authUrl, anyone, devIssuer: issuer };
  const seedContext = {
    log,
    store,
    tokens: pageTokens(operator),
    ids,
    now: clock(),
    identityRules,
    uniqueRoleBindings,
  };
  const seeded = seed && applySeed(seed as Seed, seedContext);
  const owned = issuer ? ensureDevOrganization(store, ids, issuer, clock(), seeded) : undefined;

  const metrics = createMetrics(bounds);
  const sts = createSts({
    clock,
    authUrl,
    audiences: audiencesOf(baseUrl),
    dev,
    ...(issuer && { devIssuerUrl: issuer, devSigner: keys.devSigner }),
    signer: keys.signer,
    anyone,
    identities: stsIdentities(store, log),
    capabilitiesOf: (uid) => grantsOf(store, uid),
    ...(options.refreshTokens && { refreshFamilies: createRefreshFamilies(store, clock) }),
    ...(options.resolve && { resolve: options.resolve }),
    log: (event) => {
      log("info", "exchange", event);
      metrics.exchanged(event.reason);
    },
  });
  store.onLost(({ message }) => log("error", "database lost", { reason: message, advice: LOST_ADVICE }));
  const limit = resettable(() =>
    options.rateLimit === undefined ? unlimited : createRateLimit(options.rateLimit, clock),
  );
  const pipeline = createPipeline({
    store,
    authenticate: createAuthenticate(store, sts, clock, log),
    sts,
    limit,
    log,
    context: ({ method }, caller) => {
      const now = clock();
      const createdBy = method === "GET" ? faults?.createdBy(now) : undefined;
      return { log, store, tokens: pageTokens(caller), ids, now, identityRules, uniqueRoleBindings, createdBy };
    },
  });
  const organization = owned?.organization ?? seeded;
  const status = operatorPages({ store, metrics, isDraining, log });
  const openapi = openapiPage();
  const scripted = faults && faultsPage(faults);
  const identity = owned?.identity;
  const tools =
    identity === undefined
      ? undefined
      : createDevTools({
          sts,
          store,
          baseUrl,
          identity,
          onReset: () => {
            limit.reset();
            faults?.restart();
          },
        });
  const home = homePages({
    baseUrl,
    authUrl,
    issuer,
    organization,
    identity,
    ...(tools && { ownerToken: tools.token }),
  });
  const reset = tools && resetPage(tools.reset);
  const apiPages: HttpOptions["pages"] = async (...asked) => {
    const [method, path] = asked;
    const page = (await status(method, path)) ?? (await openapi(method, path));
    return page ?? (await home(...asked)) ?? (await scripted?.(...asked)) ?? reset?.(...asked);
  };
  const authPages = issuerPages(sts);
  const isServing = () => unreadiness({ store, isDraining, log }) === undefined;
  const pages: HttpOptions["pages"] = async (...asked) => (await apiPages(...asked)) ?? authPages(...asked);
  return {
    wires: {
      pipeline: faults?.around(pipeline, log) ?? pipeline,
      pages,
      metrics,
      isDraining,
      isServing,
      strictBodies: options.strictBodies ?? false,
      clock,
      log,
    },
    apiPages,
    records: {
      anyone,
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

const stsIdentities = (store: Store, log: Log): StsOptions["identities"] => ({
  get: (uid) => {
    const row = store.get(identities, uid);
    return row && identityFrom(row);
  },
  withExactClaims: (issuer, subject) => identitiesWith(store, issuer, subject),
  // Not those of static keys: their issuers need not have a discovery document, so nobody may make us ask them.
  hasIssuer: (issuer) =>
    store
      .statement("SELECT 1 FROM identities WHERE issuer = ? AND relationship = 'RELATIONSHIP_TYPE_CLAIM_MATCH' LIMIT 1")
      .get(issuer) !== undefined,
  // A uid begins with the 40 digits of its organisation.
  organizationsWith: (issuer) =>
    store
      .statement(
        `SELECT DISTINCT substr(uid, 1, 40) AS root FROM identities
         WHERE issuer = ? AND relationship = 'RELATIONSHIP_TYPE_CLAIM_MATCH'`,
      )
      .all(issuer)
      .map(({ root }) => root as string),
  seen: (uid, timeMs) => {
    try {
      const update = "UPDATE identities SET last_seen_time = ? WHERE uid = ?";
      store.transaction(() => store.statement(update).run(timeMs, uid));
    } catch (error) {
      // Nothing rests on it: whoever may read still gets a token when the disk is full.
      if (!passingFailure(error)) throw error;
      log("warn", "lastSeenTime was not written", { identity: uid, error: String(error) });
    }
  },
});
