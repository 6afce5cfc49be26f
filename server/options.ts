// The options of a server, the combinations that it refuses, and the addresses that follow from the options.

import { randomBytes } from "node:crypto";
import { isLoopbackAuthority, isLoopbackHost, type RoleBundles, schemeProblem } from "../schema/index.ts";
import type { Log } from "./base/log.ts";
import type { BoundOptions } from "./connection/bounds.ts";
import type { FaultScript } from "./faults/script.ts";
import type { CarriedOut } from "./pipeline/pipeline.ts";
import type { TlsKeys } from "./port/port.ts";
import type { ParsedSeed } from "./seed/record.ts";
import { roleProblems } from "./seed/roles.ts";
import type { IdSource } from "./services/context.ts";
import type { OpenStore, Store } from "./store/store.ts";
import { createSigner, generateKey, type Resolve, type Signer, type StoredKey } from "./sts/index.ts";

export interface ServerOptions extends BoundOptions {
  /** SQLite file, or an open store; default: `:memory:` */
  store?: string | OpenStore;
  /** address to listen on; default: 127.0.0.1 */
  host?: string;
  /** default: 0, any free port */
  port?: number;
  /** port of the token exchange and the issuer, 0 for any free one; default: the same port */
  authPort?: number;
  /** certificate and key; default: no TLS */
  tls?: TlsKeys;
  /** scheme, host and port that clients use; default: the address that the server listens on */
  publicUrl?: string | undefined;
  /** scheme, host and port of the token exchange and the issuer; default: `publicUrl` */
  publicAuthUrl?: string | undefined;
  /** development issuer, an organization with an owner, loopback issuers; on a loopback host only */
  dev?: boolean;
  /** it serves a copy only to this process, which needs no development issuer */
  twin?: boolean;
  /** records to start with, from `parseSeed` */
  seed?: ParsedSeed;
  /**
   * the built-in roles, from `parseRoles`: friendly names of capabilities by name of role, such as `{ viewer: ["groups.list"] }`. owner and
   * viewer must be among them. Default: the table of this version (docs/reference/capabilities.md)
   */
  roles?: RoleBundles;
  /** called with each write that was carried out, in the order of their transactions, before it is answered; it must not throw */
  onWrite?: (write: CarriedOut) => void;
  /** milliseconds since the epoch; default: `Date.now` */
  clock?: () => number;
  /** default: random */
  ids?: IdSource;
  /** default: generated once and kept in the store */
  keys?: ServerKeys;
  /** default: no log */
  log?: Log;
  /** requests a second that one caller may make; default: no limit */
  rateLimit?: number;
  /** a second binding of one identity to one role in one group is ALREADY_EXISTS (docs/internals/contract.md#d19); default: allowed */
  uniqueRoleBindings?: boolean;
  /**
   * a caller may grant capabilities that it does not hold, which the published contract does not exclude (docs/internals/contract.md#d21); with `dev`
   * only; default: it may not
   */
  withoutAntiEscalation?: boolean;
  /** an exchange also returns a refresh token; default: refresh tokens are neither returned nor accepted */
  refreshTokens?: boolean;
  /** a body with a field that does not exist is INVALID_ARGUMENT; default: the field is ignored */
  strictBodies?: boolean;
  /** scripted failures, for tests of clients; on a loopback host only; default: none, and no page to ask for any */
  faults?: FaultScript;
  /** the name service for the hosts of issuers; default: DNS */
  resolve?: Resolve;
}

/** Options that the server refuses, in one sentence. */
export class ServerOptionsError extends Error {
  override readonly name = "ServerOptionsError";
}

const WILDCARD = new Set(["0.0.0.0", "::"]);

/** True when the exchange and the issuer have a separate port. */
export const isSplit = ({ authPort, port }: ServerOptions): boolean =>
  authPort !== undefined && (authPort === 0 || authPort !== port);

/** The public addresses as origins. Throws ServerOptionsError for options that cannot be served together. */
export const checkOptions = (options: ServerOptions): Pick<ServerOptions, "publicUrl" | "publicAuthUrl"> => {
  const { host = "127.0.0.1", dev = false } = options;
  if (dev && !isLoopbackHost(host)) throw refusalOfDev(`on ${host}; leave out --host`);
  if (options.withoutAntiEscalation && !dev && !options.twin)
    throw new ServerOptionsError(
      "--without-anti-escalation lets callers grant what they do not hold, so it is for trials with --dev only; add --dev, or leave it out",
    );
  if (options.faults && !isLoopbackHost(host))
    throw new ServerOptionsError(
      `the scripted failures are changed by anyone who reaches the server, so --faults is refused on ${host}; leave out --host`,
    );
  const wrong = options.roles === undefined ? [] : roleProblems(options.roles);
  if (wrong.length > 0)
    throw new ServerOptionsError(wrong.map(({ path, text }) => `--roles: ${[...path, text].join(" ")}`).join("\n"));
  const publicUrl = originOf("--public-url", options.publicUrl);
  const publicAuthUrl = originOf("--public-auth-url", options.publicAuthUrl);
  if (publicAuthUrl && !publicUrl)
    throw new ServerOptionsError("--public-auth-url needs --public-url: clients use both addresses");
  if (publicUrl && !publicAuthUrl && isSplit(options))
    throw new ServerOptionsError(
      "--public-url needs --public-auth-url where --auth-port gives the exchange its own port",
    );
  for (const url of [publicUrl, publicAuthUrl])
    if (dev && url && !isLoopbackAuthority(new URL(url).host))
      throw refusalOfDev(`with the public address ${url}; use a name of loopback, or leave out --dev`);
  return { publicUrl, publicAuthUrl };
};

const refusalOfDev = (where: string) =>
  new ServerOptionsError(`the development issuer mints tokens for anyone who reaches it, so --dev is refused ${where}`);

// The message omits the text, which may contain a password.
const originOf = (option: string, text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const problem = schemeProblem(text);
  if (problem !== undefined) throw new ServerOptionsError(`${option} ${problem}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (!isOrigin)
    throw new ServerOptionsError(
      `${option} takes the scheme, host and port that clients use, and nothing after them, such as https://irm.example.com`,
    );
  return url.origin;
};

/** Advice for a server that listens on every address and has no public one; undefined if there is none. */
export const addressAdvice = ({ host, publicUrl }: ServerOptions, baseUrl: string): string | undefined =>
  host !== undefined && WILDCARD.has(host) && publicUrl === undefined
    ? `clients can sign in at ${baseUrl} only; give --public-url with the address that they use`
    : undefined;

// The server's keys, in the store, so that tokens and page tokens outlive a restart. Signing keys rotate
// (`sts/key/signer.ts`). A list of keys is one value of the store, so a rotation happens in full or not at all.

export interface ServerKeys {
  /** signs API tokens */
  signer: Signer;
  /** signs the development issuer's tokens */
  devSigner: Signer;
  /** signs page tokens */
  pageTokenKey: Uint8Array;
}

export const loadKeys = (store: Store, clock: () => number, log: Log): ServerKeys => ({
  signer: createStoredSigner(store, "signing_keys", clock, log),
  devSigner: createStoredSigner(store, "dev_signing_keys", clock, log),
  pageTokenKey: Buffer.from(
    loadOrCreate(store, "page_token_key", () => randomBytes(32).toString("base64")),
    "base64",
  ),
});

/** Keys that end with the process. */
export const createKeys = (clock: () => number = Date.now): ServerKeys => ({
  signer: createSigner({ clock }),
  devSigner: createSigner({ clock }),
  pageTokenKey: randomBytes(32),
});

const createStoredSigner = (store: Store, key: string, clock: () => number, log: Log) =>
  createSigner({
    clock,
    keys: JSON.parse(loadOrCreate(store, key, () => JSON.stringify([generateKey(clock())]))) as StoredKey[],
    save: (keys) => store.setMeta(key, JSON.stringify(keys)),
    log: ({ outcome, ...event }) => log(outcome === "failed" ? "error" : "info", "signing key", { outcome, ...event }),
  });

const loadOrCreate = (store: Store, key: string, make: () => string) => {
  const kept = store.meta(key);
  if (kept !== undefined) return kept;
  const made = make();
  store.setMeta(key, made);
  return made;
};
