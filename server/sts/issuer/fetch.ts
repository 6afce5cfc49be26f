// One JSON document from another host: no redirect followed, no compression, a bounded size, a signal that ends it. The
// environment's proxy is not used: behind one, the name would be resolved and the address chosen where nothing checks it.
import { Agent, type Dispatcher, request } from "undici";
import { guardedLookup, type Resolve } from "./address.ts";
import { createResolve } from "./resolve.ts";

const MAX_BYTES = 100 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;

export type FetchDocument = (url: URL, signal: AbortSignal) => Promise<string>;

/** With a dispatcher given, connections are that one's to guard: it is for tests. */
export const createFetchDocument = (options: { dispatcher?: Dispatcher; resolve?: Resolve }): FetchDocument => {
  const dispatcher = options.dispatcher ?? guardedAgent(options.resolve ?? createResolve());
  return async (url, signal) => {
    signal.throwIfAborted();
    const answered = request(url, {
      dispatcher,
      signal,
      // What is counted is what is read: nothing has to be unpacked to know how big it is.
      headers: { accept: "application/json", "accept-encoding": "identity" },
    });
    // undici hears the signal once it is connected; a name server may be silent until then.
    const response = await Promise.race([answered, abortOf(signal)]);
    try {
      if (response.statusCode !== 200) throw new TypeError(`answered ${response.statusCode}`);
      const encoding = response.headers["content-encoding"] ?? "identity";
      if (encoding !== "identity") throw new TypeError("a compressed answer");
      return await readBody(response.body);
    } finally {
      // A body that is left unread would hold its connection.
      response.body.on("error", () => undefined).destroy();
    }
  };
};

const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

const guardedAgent = (resolve: Resolve): Agent =>
  new Agent({
    connect: { lookup: guardedLookup(resolve), timeout: CONNECT_TIMEOUT_MS },
    // A connection for each document: a kept one would outlive the check of its address, and saves little in ten minutes.
    pipelining: 0,
    allowH2: false,
  });

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
