// Fetches one JSON document from another host: no redirects, no compression, a bounded size, a signal to end it. It ignores the
// proxy of the environment, which would resolve the name and choose the address without a check.
import { Resolver } from "node:dns/promises";
import { Agent, type Dispatcher, request } from "undici";
import { guardedLookup, type Resolve } from "./address.ts";

const MAX_BYTES = 100 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;

export type FetchDocument = (url: URL, signal: AbortSignal) => Promise<string>;

/** `dispatcher`: for tests; it must guard its connections itself. */
export const createFetchDocument = (options: { dispatcher?: Dispatcher; resolve?: Resolve }): FetchDocument => {
  const dispatcher =
    options.dispatcher ??
    new Agent({
      connect: { lookup: guardedLookup(options.resolve ?? createResolve()), timeout: CONNECT_TIMEOUT_MS },
      // One connection for each document: a reused one would outlive the check of its address, and saves little in ten minutes.
      pipelining: 0,
      allowH2: false,
    });
  return async (url, signal) => {
    signal.throwIfAborted();
    const answered = request(url, {
      dispatcher,
      signal,
      // Without compression, the bytes that are counted are the bytes that are read.
      headers: { accept: "application/json", "accept-encoding": "identity" },
    });
    // undici observes the signal once it is connected, but a name server may be silent until then.
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
    const response = await Promise.race([answered, aborted]);
    try {
      if (response.statusCode !== 200) throw new TypeError(`answered ${response.statusCode}`);
      const encoding = response.headers["content-encoding"] ?? "identity";
      if (encoding !== "identity") throw new TypeError("a compressed answer");
      return await readBody(response.body);
    } finally {
      // An unread body would occupy its connection.
      response.body.on("error", () => undefined).destroy();
    }
  };
};

const readBody = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new TypeError("longer than 100 KiB");
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
};

const RESOLVE_TIMEOUT_MS = 2_000;
const RESOLVE_TRIES = 2;

// RFC 6761 section 6.3: not for a name server.
const LOCALHOST = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * Resolves the hosts of issuers by DNS (c-ares). The system's resolver blocks one of the four threads of Node's pool while a name server is
 * silent, and that pool also computes our signatures. Four names of a dead server would stop every exchange. `servers`: default: the system's
 */
export const createResolve =
  (options: { servers?: readonly string[]; timeoutMs?: number } = {}): Resolve =>
  async (host) => {
    if (host === "localhost") return LOCALHOST;
    const resolver = new Resolver({ timeout: options.timeoutMs ?? RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
    if (options.servers) resolver.setServers(options.servers);
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [
      ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    // Many hosts have addresses of one family only.
    if (found.length === 0 && four.status === "rejected") throw four.reason;
    return found;
  };

// The discovery document of an issuer, at `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0 section 3).

/** Path of the key set below the issuer's URL. */
export const JWKS_PATH = "/.well-known/jwks.json";

export const discoveryDocument = (issuer: string) => ({
  issuer,
  jwks_uri: `${issuer}${JWKS_PATH}`,
  response_types_supported: ["id_token"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
});
