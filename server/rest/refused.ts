// An error on its way out over REST: HTTP status, headers, and google.rpc.Status as the body (AIP-193).

import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, apiError, type Code, codes, domainOf, type Status, statusFromError } from "../../schema/index.ts";
import { LATE } from "../connection/delivery.ts";
import { TransportError } from "../pipeline/pipeline.ts";
import type { Match } from "./route.ts";

export interface RestError {
  http: number;
  headers: Record<string, string>;
  json: Status;
}

/** `http`: if it is not the status of the code (docs/internals/contract.md#d31). */
export const restError = (error: ApiError, service = "iam", http: number = codes[error.code].http): RestError => {
  const delay = error.detail("RetryInfo")?.retryDelay;
  return {
    http,
    headers: {
      ...(error.code === "UNAUTHENTICATED" && { "www-authenticate": "Bearer" }),
      ...(delay && { "retry-after": String(Math.ceil(Number.parseFloat(delay))) }),
    },
    json: statusFromError(error, domainOf(service)),
  };
};

// Requests that never reach the pipeline, or that it returns: broken HTTP, an unknown path or method, or a client that has
// gone. The body may also be too large, too late or of the wrong type. Each gets a status in JSON, like every other error.

/** A message that is not HTTP (RFC 9112), or that did not arrive in time, by node's error. */
export class BrokenMessage extends TransportError {
  override readonly name = "BrokenMessage";
  readonly refusal: RestError;

  constructor(cause: NodeJS.ErrnoException) {
    super("the HTTP message is broken", { cause });
    const [http, code, text] = BROKEN[cause.code ?? ""] ?? NOT_HTTP;
    this.refusal = restError(apiError(code, text), "iam", http);
  }
}

/** A message of HTTP/2 that did not arrive in time; node checks that only on HTTP/1.1. */
export const lateMessage = (): BrokenMessage =>
  new BrokenMessage(Object.assign(new Error(LATE), { code: "ERR_HTTP_REQUEST_TIMEOUT" }));

/** The answer of another server, passed on unchanged. */
export class PassedOn extends TransportError {
  override readonly name = "PassedOn";
  readonly refusal: RestError;

  constructor(refusal: RestError) {
    super(refusal.json.message);
    this.refusal = refusal;
  }
}

const GONE = "the client closed the connection";

const NOT_HTTP: [http: number, code: Code, text: string] = [400, "INVALID_ARGUMENT", "the message is not HTTP/1.1"];

const BROKEN: Record<string, typeof NOT_HTTP> = {
  HPE_HEADER_OVERFLOW: [431, "INVALID_ARGUMENT", "the head of the request is too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "INVALID_ARGUMENT", "the chunk extensions are too large"],
  HPE_INVALID_EOF_STATE: [499, "CANCELLED", GONE],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "DEADLINE_EXCEEDED", LATE],
};

/** A body that the server does not read. */
class BodyRefused extends TransportError {
  override readonly name = "BodyRefused";
  readonly http: number;

  constructor(http: number, message: string) {
    super(message);
    this.http = http;
  }
}

export const bodyTooLarge = (max: number): Error => new BodyRefused(413, `the body is larger than ${max} bytes`);

export const unsupportedMediaType = (type: string | undefined, expected: string): Error => {
  const found = type ? `not ${type.slice(0, 100)}` : "but the request has none";
  return new BodyRefused(415, `the content type must be ${expected}, ${found}`);
};

/** No answer can reach the client. */
export class ClientGone extends TransportError {
  override readonly name = "ClientGone";
  constructor(cause: unknown) {
    super(GONE, { cause });
  }
}

/** The answer to a refused request. Rethrows any other error, which is a defect. */
export const refusalOf = (error: unknown, service?: string): RestError => {
  if (error instanceof BrokenMessage || error instanceof PassedOn) return error.refusal;
  if (error instanceof ApiError) return restError(error, service);
  if (!(error instanceof BodyRefused)) throw error;
  const refusal = restError(apiError("INVALID_ARGUMENT", error.message), service, error.http);
  return error.http === 413 ? { ...refusal, headers: { ...refusal.headers, connection: "close" } } : refusal;
};

/** The error of a request that reached no method (docs/internals/contract.md#d31). */
export const unroutedError = (match: Exclude<Match, { kind: "route" }>, method: string, path: string): RestError => {
  switch (match.kind) {
    case "path":
      return restError(apiError("NOT_FOUND", `there is no ${path.slice(0, 200)}`));
    case "unserved":
      return restError(apiError("UNIMPLEMENTED", `${match.route.name} is not served here`), match.route.service);
    case "method": {
      const text = `${method} is not a method of this path; it takes ${match.allow.join(", ")}`;
      const error = restError(apiError("UNIMPLEMENTED", text), match.service, 405);
      return { ...error, headers: { ...error.headers, allow: match.allow.join(", ") } };
    }
  }
};

/** Writes an answer on a connection whose request node could not read, and ends the connection. */
export const endWith = (socket: Duplex, http: number, headers: Record<string, string>, body: string): void => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(
    `HTTP/1.1 ${http} ${STATUS_CODES[http] ?? "Client Closed Request"}\r\n${lines.join("\r\n")}\r\n\r\n${body}`,
  );
};
