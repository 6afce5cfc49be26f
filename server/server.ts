// The composition root: store, clock, ids and keys in, addresses and close out. Nothing else makes a clock, an id or a key.
import { randomBytes } from "node:crypto";
import { applySeed } from "./apply-seed.ts";
import { createAuthenticate } from "./authenticate.ts";
import { grantsOf } from "./authorize.ts";
import type { IdSource } from "./context.ts";
import { createHttp, type HttpOptions } from "./http.ts";
import { DEV_ISSUER_PATH, issuerPages } from "./issuer-pages.ts";
import { loadKeys, type ServerKeys } from "./keys.ts";
import { audiencesOf, closeListener, listen, urlOf } from "./listen.ts";
import { createLog, type Log } from "./log.ts";
import { ensureAnyone, ensureDevOrganization } from "./organization.ts";
import { createPipeline } from "./pipeline.ts";
import { createRouter } from "./route.ts";
import type { Seed } from "./seed.ts";
import { ensureBuiltInRoles } from "./services/built-in-role.ts";
import { identitiesWith, identityFrom } from "./services/identity.ts";
import { openDatabase } from "./store/database.ts";
import { createPageTokens } from "./store/page-token.ts";
import { identities } from "./store/shape.ts";
import { createStore, type Store } from "./store/store.ts";
import { createSts, type StsOptions } from "./sts/index.ts";

export interface ServerOptions {
  /** SQLite file; default `:memory:` */
  store?: string;
  /** address to listen on; default 127.0.0.1 */
  host?: string;
  /** default 0: any free port */
  port?: number;
  /** port of the token exchange and the issuer, 0 for any free one; default: the same port */
  authPort?: number;
  /** development issuer, an organisation with an owner, loopback issuers; on a loopback host only */
  dev?: boolean;
  /** records to start with, from `parseSeed` */
  seed?: Seed;
  /** milliseconds since the epoch; default `Date.now` */
  clock?: () => number;
  /** default: random */
  ids?: IdSource;
  /** default: made once and kept in the store */
  keys?: ServerKeys;
  /** default: no log */
  log?: Log;
}

export interface RunningServer {
  baseUrl: string;
  authUrl: string;
  /** the development issuer, with `dev` */
  issuer?: string;
  /** uid of the organisation: of the seed, or with `dev` the development one */
  organization?: string;
  /** uid of the owner identity, with `dev` */
  identity?: string;
  /** uid of the identity that anyone may assume */
  anyone: string;
  /** takes no new requests, waits for those under way, closes the store */
  close(): Promise<void>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

const randomIds: IdSource = {
  root: () => randomBytes(20).toString("hex"),
  segment: () => randomBytes(8).toString("hex"),
};

/** Options that cannot be served, in one sentence. */
export class ServerOptionsError extends Error {
  override readonly name = "ServerOptionsError";
}

/** Starts a server. Errors: ServerOptionsError, DatabaseError, SeedError, ListenError; nothing is left running. */
export const createServer = async (options: ServerOptions = {}): Promise<RunningServer> => {
  const { host = "127.0.0.1", dev = false } = options;
  if (dev && !LOOPBACK.has(host))
    throw new ServerOptionsError(
      `the development issuer mints tokens for anyone who reaches it, so --dev is refused on ${host}; leave out --host`,
    );
  const store = createStore(openDatabase(options.store ?? ":memory:"));
  const api = Promise.withResolvers<HttpOptions>();
  const auth = Promise.withResolvers<HttpOptions>();
  const apiListener = createHttp(api.promise);
  const split = options.authPort !== undefined && (options.authPort === 0 || options.authPort !== options.port);
  const authListener = split ? createHttp(auth.promise) : apiListener;
  const close = async () => {
    await Promise.all([...new Set([apiListener, authListener])].map(closeListener));
    store.close();
  };
  try {
    await listen(apiListener, options.port ?? 0, host);
    if (split) await listen(authListener, options.authPort as number, host);
    const urls = { baseUrl: urlOf(apiListener, host), authUrl: urlOf(authListener, host) };
    const { http, records } = compose(store, urls, { ...options, dev });
    api.resolve({ ...http, router: createRouter(split ? "api" : "both"), ...(split && { pages: noPages }) });
    auth.resolve({ ...http, router: createRouter("auth") });
    return { ...urls, ...records, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const noPages: HttpOptions["pages"] = async () => undefined;

// From the store and the addresses to what a listener needs, and the uids of the records that the server made.
const compose = (
  store: Store,
  { baseUrl, authUrl }: Pick<RunningServer, "baseUrl" | "authUrl">,
  options: ServerOptions,
) => {
  const { dev = false, clock = Date.now, ids = randomIds, seed } = options;
  const log = options.log ?? createLog({ level: "error", json: false, clock, write: () => {} });
  const keys = options.keys ?? loadKeys(store, clock);
  const issuer = dev ? `${authUrl}${DEV_ISSUER_PATH}` : undefined;
  ensureBuiltInRoles(store, clock());
  const anyone = ensureAnyone(store, clock());
  const seeded = seed && applySeed(store, ids, seed, issuer, clock());
  const owned = issuer ? ensureDevOrganization(store, ids, issuer, clock(), seeded) : undefined;

  const sts = createSts({
    clock,
    authUrl,
    audiences: audiencesOf(baseUrl),
    dev,
    ...(issuer && { devIssuerUrl: issuer, devSigner: keys.devSigner }),
    signer: keys.signer,
    anyone,
    identities: stsIdentities(store),
    capabilitiesOf: (uid) => grantsOf(store, uid),
    log: (event) => log("info", "exchange", event),
  });
  const tokens = createPageTokens(keys.pageTokenKey, clock);
  const identityRules = { loopback: dev, ownIssuer: authUrl, anyone };
  const pipeline = createPipeline({
    authenticate: createAuthenticate(store, sts, log),
    sts,
    log,
    context: () => ({ store, tokens, ids, now: clock(), identityRules }),
  });
  const organization = owned?.organization ?? seeded;
  return {
    http: { pipeline, pages: issuerPages(sts), clock, log },
    records: {
      anyone,
      ...(issuer && { issuer }),
      ...(organization && { organization }),
      ...(owned && { identity: owned.identity }),
    },
  };
};

const stsIdentities = (store: Store): StsOptions["identities"] => ({
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
  seen: (uid, timeMs) => {
    store.statement("UPDATE identities SET last_seen_time = ? WHERE uid = ?").run(timeMs, uid);
  },
});
