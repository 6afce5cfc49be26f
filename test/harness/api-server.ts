// A reference server in this process, with a manual clock and counted ids: calls, tokens by the real exchange, identities.
import { afterAll, onTestFinished, TestRunner } from "vitest";
import { createLog } from "../../server/base/log.ts";
import {
  createServer,
  type Faults,
  type IdSource,
  parseSeed,
  type ServerKeys,
  type ServerOptions,
} from "../../server/index.ts";
import { openDatabase } from "../../server/store/database.ts";
import { createStore, type Store } from "../../server/store/store.ts";
import { createSigner, generateKey } from "../../server/sts/index.ts";
import { createGrpcClient, type GrpcClient } from "../support/grpc.ts";
import { type Answer, type Body, createHttpClient } from "../support/http.ts";
import { createRandom } from "../support/random.ts";
import { type ManualClock, manualClock, START_MS } from "./clock.ts";

export const countingIds = (): IdSource => {
  let roots = 0;
  let segments = 0;
  return {
    root: () => (++roots).toString(16).padStart(40, "0"),
    segment: () => (++segments).toString(16).padStart(16, "0"),
  };
};

/** Repeatable ids in no order: the order of uids differs from that of creation. */
export const shuffledIds = (seed: number): IdSource => {
  const random = createRandom(seed);
  return { root: () => random.hex(40), segment: () => random.hex(16) };
};

let made: ServerKeys | undefined;

/** Generating keys is slow: one set for all the servers of a test file. */
export const sharedKeys = (): ServerKeys => {
  made ??= {
    signer: createSigner({ clock: () => START_MS, keys: [generateKey(START_MS)] }),
    devSigner: createSigner({ clock: () => START_MS, keys: [generateKey(START_MS)] }),
    pageTokenKey: Buffer.alloc(32, 7),
  };
  return made;
};

export interface CallOptions {
  /** default: the owner's; null: none */
  token?: string | null;
  /** an object is sent as JSON, a text as it is */
  body?: unknown;
  query?: Record<string, string | number | boolean | readonly string[] | undefined>;
  headers?: Record<string, string | string[]>;
}

export interface TokenOptions {
  /** `sub` of the workload's token; default: the last one that was given to an identity of that uid */
  subject?: string;
  aud?: string;
  cap?: readonly string[];
  scopes?: readonly string[];
}

export interface Actor {
  uid: string;
  token: string;
}

export type TestServer = Awaited<ReturnType<typeof startServer>>;

export const IAM = "/iam/v2beta1";
export const REGISTRY = "/registry/v2beta1";

export const queryText = (query: NonNullable<CallOptions["query"]>): string => {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [value].flat().map((item) => [key, String(item)]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs as [string, string][])}`;
};

export const startServer = async (options: ServerOptions & { clock?: ManualClock } = {}) => {
  const clock = options.clock ?? manualClock();
  const log: string[] = [];
  const server = await createServer({
    dev: true,
    ids: countingIds(),
    keys: sharedKeys(),
    log: createLog({ level: "debug", json: true, clock, write: (line) => log.push(line) }),
    ...options,
    clock,
  });
  const api = createHttpClient(server.baseUrl);
  const auth = createHttpClient(server.authUrl);
  const owner: Actor = { uid: server.identity ?? "", token: "" };
  const roles = new Map<string, string>();
  let grpc: GrpcClient | undefined;

  /** Any request to the API, by default as the owner. */
  const call = (
    method: string,
    target: string,
    { token = owner.token, body, query = {}, headers = {} }: CallOptions = {},
  ): Promise<Answer> => {
    const raw = body === undefined || typeof body === "string" || Buffer.isBuffer(body);
    return api.send({
      method,
      target: target + queryText(query),
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
  };
  /** A call that must succeed: its body. */
  const ok = async (method: string, target: string, own?: CallOptions): Promise<Body> => {
    const answer = await call(method, target, own);
    if (answer.status !== 200) throw new Error(`${method} ${target} answered ${answer.status}: ${answer.text}`);
    return answer.json;
  };
  /** A workload's token, by the development issuer. */
  const identityToken = async (subject: string, further: Body = {}): Promise<string> => {
    const answer = await auth.send({
      method: "POST",
      target: "/dev-issuer/token",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ subject, ...further }),
    });
    if (!answer.json.token) throw new Error(`the development issuer answered ${answer.status}: ${answer.text}`);
    return answer.json.token as string;
  };
  /** `aud` is that of the API, unless the query has another one or `undefined`. */
  const exchange = (bearer: string, query: Body): Promise<Answer> =>
    auth.send({
      method: "GET",
      target: `/sts/exchange${queryText({ aud: server.baseUrl, ...query })}`,
      headers: { authorization: `Bearer ${bearer}` },
    });
  /** An API token, by a real exchange. */
  const token = async (identity: string, { subject, ...limits }: TokenOptions & { subject: string }) => {
    const answer = await exchange(await identityToken(subject), { aud: server.baseUrl, identity, ...limits });
    if (answer.status !== 200) throw new Error(`the exchange answered ${answer.status}: ${answer.text}`);
    return answer.json.token as string;
  };
  /** uid of a built-in role */
  const role = async (name: string): Promise<string> => {
    const known = roles.get(name);
    if (known) return known;
    const { roles: found } = await ok("GET", `${IAM}/roles`, { query: { name, "uidp.inRoot": true } });
    const { uid } = found[0] as { uid: string };
    roles.set(name, uid);
    return uid;
  };
  /** An identity in a group of the organization, bound to a role there or at `at`. */
  const actor = async (
    name: string,
    { role: bound, at = server.organization, in: group }: { role?: string; at?: string; in?: string } = {},
  ): Promise<Actor> => {
    const claimMatch = { issuer: server.issuer, subject: name };
    const parent = group ?? server.organization;
    const { uid } = await ok("POST", `${IAM}/identities/${parent}`, { body: { name, claimMatch } });
    if (bound) {
      const body = { identityUid: uid, roleUid: bound.length >= 40 ? bound : await role(bound) };
      await ok("POST", `${IAM}/roleBindings/${at}`, { body });
    }
    return { uid, token: await token(uid, { subject: name }) };
  };
  if (server.identity) owner.token = await token(server.identity, { subject: "owner" });

  return {
    ...server,
    issuer: server.issuer ?? "",
    organization: server.organization ?? "",
    /** with the option `faults` */
    faults: server.faults as Faults,
    /** uid of the owner of the organization */
    identity: owner.uid,
    owner,
    clock,
    /** every line that the server logged, as JSON */
    log,
    call,
    ok,
    identityToken,
    exchange,
    token,
    actor,
    role,
    grpc: () => (grpc ??= createGrpcClient(server.baseUrl)),
    close: async () => {
      grpc?.close();
      api.close();
      auth.close();
      await server.close();
    },
  };
};

/** Calls it when the test ends, from `beforeEach` too; outside of tests, with the last test of the suite. Not for `beforeAll`. */
export const atEnd = (close: () => unknown): void => {
  const end = async () => void (await close());
  if (TestRunner.getCurrentTest()) onTestFinished(end);
  else afterAll(end);
};

const closedAtEnd = (api: TestServer): TestServer => {
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= api.close());
  atEnd(close);
  return { ...api, close };
};

/** A server that ends with the test or the suite that starts it. */
export const serve = async (...options: Parameters<typeof startServer>): Promise<TestServer> =>
  closedAtEnd(await startServer(...options));

const openedUntilEnd =
  <T extends { close(): void }, A extends unknown[]>(open: (...options: A) => T) =>
  (...options: A): T => {
    const client = open(...options);
    atEnd(client.close);
    return client;
  };

/** Clients that end like a server of `serve`. */
export const openHttp = openedUntilEnd(createHttpClient);
export const openGrpc = openedUntilEnd(createGrpcClient);

/** A store in memory whose statements can be made to fail. */
export const breakableStore = () => {
  const store = createStore(openDatabase(":memory:"));
  const broken = { error: undefined as Error | undefined, asked: 0 };
  const statement: typeof store.statement = (sql) => {
    broken.asked += 1;
    if (broken.error) throw broken.error;
    return store.statement(sql);
  };
  return { store: { ...store, statement } as Store, broken };
};

/** The log lines of a request id, once there are `count`. */
export const loggedRequests = async (api: TestServer, requestId: string, count = 1): Promise<Body[]> => {
  // The server logs a gRPC call when its side of the stream has ended. The client may see the end earlier.
  for (let asked = 0; asked < 200; asked += 1) {
    const lines = api.log
      .map((text) => JSON.parse(text))
      .filter((own) => own.event === "request" && own.requestId === requestId);
    if (lines.length >= count) return lines;
    await api.call("GET", "/healthz");
  }
  throw new Error(`the log has no ${count} requests ${requestId}`);
};

/** The keys of these tests as an issuer publishes them, or an identity holds them. */
export const ownKeys = (): string => JSON.stringify(sharedKeys().signer.jwks());

/** A workload's token that they sign, for a minute from the start on. */
export const signedToken = (claims: { iss: string; sub: string; aud: string } & Body): Promise<string> => {
  const iat = Math.floor(START_MS / 1000);
  return sharedKeys().signer.sign({ iat, exp: iat + 60, ...claims });
};

// A server without `--dev`: its owner signs with its own key.
const OWNERS_ISSUER = "https://keys.example";

/** Without `--dev`; ends like `serve`. `further`: other sections of the seed, as YAML. */
export const startPlainServer = async (organization = "{ name: acme }", further = ""): Promise<TestServer> => {
  const text = `
organization: ${organization}
identities: [{ name: root, staticKeys: { issuer: "${OWNERS_ISSUER}", subject: root, issuerKeys: '${ownKeys()}' } }]
bindings: [{ identity: root, role: owner }]
${further}`;
  const server = await serve({ dev: false, seed: parseSeed(text, "seed.yaml") });
  server.owner.token = await ownerToken(server);
  return server;
};

/** A token of the owner of such a server, with further claims of the token that was exchanged. */
export const ownerToken = async (server: TestServer, further: Body = {}): Promise<string> => {
  const workload = await signedToken({ iss: OWNERS_ISSUER, sub: "root", aud: server.authUrl, ...further });
  const answer = await server.exchange(workload, { aud: server.baseUrl });
  if (answer.status !== 200) throw new Error(`the exchange answered ${answer.status}: ${answer.text}`);
  return answer.json.token as string;
};
