// The exchange without HTTP: keys, issuers on loopback, the cache of their documents, and a token service with records in memory.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { CompactSign } from "jose";
import { type Identity, rootOf } from "../../schema/index.ts";
import { createSigner, createSts, generateKey, type StsOptions } from "../../server/sts/index.ts";
import { createDocuments, type Documents } from "../../server/sts/issuer/cache.ts";
import { createFetchDocument } from "../../server/sts/issuer/fetch.ts";
import { hasKey, type KeySet } from "../../server/sts/issuer/key-set.ts";
import { listen } from "../support/listen.ts";
import { atEnd } from "./api-server.ts";
import { manualClock, NOON_MS } from "./clock.ts";

export const NOW = NOON_MS / 1000;
export const AUTH_URL = "https://issuer.irm.example";
export const API = "https://api.irm.example";
export const CONSOLE = "https://console.irm.example";
export const ORG = "720909c9f5279097d847ad02a2f24ba8f59de36a";
export const GROUP = `${ORG}/b74ce966caf448d1`;
export const UID = `${ORG}/a033a6fabe0bfa0d`;
export const ANYONE = "00000000000000000000000000000000000000aa";
export const SUBJECT = "repo:my-org@123456/my-repo@654321:ref:refs/heads/main";

export const DENIED = {
  name: "ApiError",
  code: "PERMISSION_DENIED",
  message: "Permission denied: the token may not be exchanged for this identity",
};
export const UNAUTHENTICATED = {
  name: "ApiError",
  code: "UNAUTHENTICATED",
  message: "Unauthenticated: a valid bearer token is required",
};

type Json = Record<string, unknown>;
export interface Key {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: Json;
}

export const key = (kid: string, pair: { privateKey: KeyObject; publicKey: KeyObject }): Key => ({
  kid,
  ...pair,
  jwk: { ...pair.publicKey.export({ format: "jwk" }), kid },
});
export const rsa = (kid: string, modulusLength = 2048): Key => key(kid, generateKeyPairSync("rsa", { modulusLength }));
export const ec = (kid: string, namedCurve: string): Key => key(kid, generateKeyPairSync("ec", { namedCurve }));
export const ed25519 = (kid: string): Key => key(kid, generateKeyPairSync("ed25519"));

// Generating a key is slow: the tests share these.
export const RSA = rsa("rsa-1");
export const OTHER_RSA = rsa("rsa-2");
export const API_KEY = generateKey(NOON_MS);
export const DEV_KEY = generateKey(NOON_MS);

export const base64url = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Signs any payload, and a text unchanged: a token may have claims that no library would write. */
export const sign = (payload: Json | string, using: Key = RSA, header: Json = {}): Promise<string> =>
  new CompactSign(Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload)))
    .setProtectedHeader({ alg: "RS256", kid: using.kid, ...header })
    .sign(using.privateKey, { crit: { "urn:test": true } });

export const claimsFrom = (issuer: string, changes: Json = {}): Json => ({
  iss: issuer,
  sub: SUBJECT,
  aud: AUTH_URL,
  iat: NOW - 10,
  exp: NOW + 300,
  jti: "upstream-1",
  ...changes,
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An issuer on loopback. Its documents may be changed; it counts connections and requested paths. `ownPort` 0: any free one. */
export const startIssuer = async (keys: Key[] = [RSA], ownPort = 0) => {
  const paths: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    const handler = issuer.handlers[request.url ?? ""] ?? issuer.fallback;
    if (handler) handler(request, response);
    else response.writeHead(404).end();
  });
  server.on("connection", () => {
    connections += 1;
  });
  const port = await listen(server, ownPort);
  const url = `http://127.0.0.1:${port}`;
  const json =
    (body: unknown): Handler =>
    (_, response) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  const issuer = {
    url,
    port,
    paths,
    handlers: {} as Record<string, Handler>,
    /** of every other path */
    fallback: undefined as Handler | undefined,
    connections: () => connections,
    publish: (published: Json[]) => {
      issuer.handlers["/jwks"] = json({ keys: published });
    },
    describe: (metadata: Json) => {
      issuer.handlers["/.well-known/openid-configuration"] = json(metadata);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  issuer.describe({ issuer: url, jwks_uri: `${url}/jwks` });
  issuer.publish(keys.map(({ jwk }) => jwk));
  return issuer;
};
export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

export const identity = (fields: Partial<Identity>): Identity => ({
  uid: UID,
  name: "ci",
  createTime: new Date(NOON_MS).toISOString(),
  updateTime: new Date(NOON_MS).toISOString(),
  lastSeenTime: new Date(NOON_MS).toISOString(),
  ...fields,
});

/** A service on records in memory with a manual clock, and its log. */
export const createService = (records: Identity[], options: Partial<StsOptions> = {}) => {
  const clock = manualClock(NOON_MS);
  const events: Record<string, unknown>[] = [];
  const seen: [uid: string, timeMs: number][] = [];
  const issuers = records.map(({ claimMatch, staticKeys }) => claimMatch ?? staticKeys);
  const sts = createSts({
    clock,
    authUrl: AUTH_URL,
    audiences: [API, CONSOLE],
    dev: true,
    devIssuerUrl: `${AUTH_URL}/dev-issuer`,
    signer: createSigner({ clock, keys: [API_KEY] }),
    devSigner: createSigner({ clock, keys: [DEV_KEY] }),
    anyone: ANYONE,
    identities: {
      get: (uid) => records.find((record) => record.uid === uid),
      withExactClaims: (issuer, subject) =>
        records.filter((_, i) => issuers[i]?.issuer === issuer && issuers[i]?.subject === subject),
      hasIssuer: (issuer) => records.some(({ claimMatch }) => claimMatch?.issuer === issuer),
      organizationsWith: (issuer) =>
        records.filter(({ claimMatch }) => claimMatch?.issuer === issuer).map(({ uid }) => rootOf(uid)),
      seen: (uid, timeMs) => seen.push([uid, timeMs]),
    },
    capabilitiesOf: () => new Map(),
    log: (event) => events.push(event),
    ...options,
  });
  return { sts: withAudience(sts), clock, events, seen };
};

// Few tests care about the requested audience.
const withAudience = (sts: ReturnType<typeof createSts>): ReturnType<typeof createSts> => ({
  ...sts,
  exchange: (request, ...further) => sts.exchange({ aud: [API], ...request }, ...further),
});

/** The payload of a token, unverified. */
export const payloadOf = (token = ""): Json =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
export const headerOf = (token = ""): Json =>
  JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString());

export const DISCOVERY = "/.well-known/openid-configuration";

type CacheOptions = Partial<Parameters<typeof createFetchDocument>[0] & { dev: boolean; timeoutMs: number }>;

/** The cache of issuers' documents on a separate clock, fetching from issuers on loopback. */
export const createCache = (options: CacheOptions = {}) => {
  const clock = manualClock(NOON_MS);
  const fetchDocument = createFetchDocument(options);
  return { clock, documents: createDocuments({ clock, dev: true, fetchDocument, ...options }) };
};

export const named = (kid: string) => (keys: KeySet) => hasKey(keys, kid, "RS256");

export const kids = async (documents: Documents, issuer: Issuer, kid: string) =>
  (await documents.keysOf(issuer.url, named(kid))).map(({ keyId }) => keyId);

export const refused = (message: string) => ({ name: "Refusal", reason: "document", message });

/** An issuer that ends with the test or the suite that starts it. */
export const serveIssuer = async (...options: Parameters<typeof startIssuer>): Promise<Issuer> => {
  const issuer = await startIssuer(...options);
  atEnd(issuer.close);
  return issuer;
};
