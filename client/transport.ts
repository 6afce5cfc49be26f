// One HTTP request through undici: the complete response, or an AttemptError that states whether the request was sent.
// HTTPS_PROXY and NO_PROXY are undici's to read; NODE_EXTRA_CA_CERTS is Node's.
import type { Dispatcher } from "undici";
import { ApiError, isLoopbackHost } from "../schema/index.ts";
import { ConfigError } from "./errors.ts";
import { AttemptError } from "./retry.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface HttpRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE" | "PUT";
  url: URL;
  /** bearer token; empty: none is sent */
  token: string;
  /** JSON text */
  body?: string;
  /** instead of a body: the parameters of an exchange, as a query has them */
  form?: string;
  /** for the whole request, from the connection to the end of the response */
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

export type Transport = (request: HttpRequest) => Promise<HttpAnswer>;

// HTTP/1.1 only: with one request on a connection, this client knows whether the request was sent.
const options = { allowH2: false, connect: { timeout: CONNECT_TIMEOUT_MS } };

/** A proxy cannot reach our loopback, whatever NO_PROXY says. */
export const systemTransport = (): Transport => {
  let agents: Promise<{ direct: Dispatcher; outside: Dispatcher }> | undefined;
  return async (request) => {
    // Loaded with the first request: checks and diffs do not need it. Bun replaces `undici` by its own, without these.
    agents ??= import("undici/index.js").then(({ Agent, EnvHttpProxyAgent }) => {
      try {
        return { direct: new Agent(options), outside: new EnvHttpProxyAgent(options) };
      } catch {
        // The variable is not a URL. The value is not quoted, since it may contain a password.
        throw new ConfigError(["HTTP_PROXY, HTTPS_PROXY: must be a URL"], "unreachable");
      }
    });
    const { direct, outside } = await agents;
    return send(isLoopbackHost(request.url.hostname) ? direct : outside, request);
  };
};

const send = (
  dispatcher: Dispatcher,
  { method, url, token, body, form, timeoutMs }: HttpRequest,
): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    let sent = false;
    let timedOut = false;
    let status = 0;
    let headers: HttpAnswer["headers"] = {};
    const chunks: Buffer[] = [];
    let size = 0;
    let timer: NodeJS.Timeout | undefined;
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: {
          accept: "application/json",
          ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
          "user-agent": "pulumi-irm",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        },
        body: body ?? form ?? null,
        // Off: these timers restart with each part of a response. The timer below is the only limit.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        // Called when TCP and TLS are established and the head is about to be written.
        onRequestStart(controller) {
          sent = true;
          timer = setTimeout(() => {
            timedOut = true;
            controller.abort(new Error(`timed out after ${timeoutMs / 1000} s`));
          }, timeoutMs);
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          status = statusCode;
          headers = responseHeaders;
        },
        onResponseData(controller, chunk) {
          size += chunk.length;
          if (size > MAX_BODY_BYTES) controller.abort(new Error(`the response is larger than ${MAX_BODY_BYTES} bytes`));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          clearTimeout(timer);
          resolve({ status, headers, body: Buffer.concat(chunks).toString("utf8") });
        },
        onResponseError: (_controller, error) => {
          clearTimeout(timer);
          const text = `no response from ${url.origin}: ${connectionText(url, error)}`;
          const cause = new ApiError("UNAVAILABLE", text, { cause: error });
          reject(new AttemptError({ sent, ...(timedOut && { timedOut }) }, cause));
        },
      },
    );
  });

/** Why a connection failed. */
export const connectionText = (url: URL, error: Error): string => {
  const { code } = error as NodeJS.ErrnoException;
  const text = protocolText(url, error) ?? (error.message || "connection failed");
  // Node's AggregateError (several addresses of one name) has a code and no message.
  return code && !text.includes(code) ? `${text} (${code})` : text;
};

// What OpenSSL makes of an answer in clear text.
const NOT_TLS = /wrong version number|packet length too long|unknown protocol|record layer failure/i;

/** The text for an https address where the port speaks http, or the other way round as far as that shows. */
const protocolText = (url: URL, error: Error): string | undefined => {
  const { code = "", socket } = error as NodeJS.ErrnoException & { socket?: { bytesRead?: number } | null };
  const other = (protocol: string) => url.origin.replace(/^\w+:/, protocol);
  if (url.protocol === "https:" && (code.startsWith("ERR_SSL_") || code === "EPROTO") && NOT_TLS.test(error.message))
    return isLoopbackHost(url.hostname)
      ? `this port does not speak TLS; if it speaks http, write ${other("http:")}`
      : "this port does not speak TLS; write the address of the https port, since http is for loopback only";
  if (url.protocol === "http:" && code === "UND_ERR_SOCKET" && socket?.bytesRead === 0)
    return `${error.message} before the first answer; if this port speaks https, write ${other("https:")}`;
  return undefined;
};
