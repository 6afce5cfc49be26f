// Messages that are no HTTP (RFC 9112): the parser refuses them before there is a request to route. They are answered as
// everything else is: a status in JSON, a request id, a line of the log.
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { apiError, type Code } from "../../schema/index.ts";
import { LATE } from "../port/arrival.ts";
import { TransportError } from "../port/transport-error.ts";
import { type RestError, restError } from "./decode.ts";

/** What the parser found wrong with a message, and how it is told. */
export class BrokenMessage extends TransportError {
  override readonly name = "BrokenMessage";
  readonly reply: RestError;

  constructor(cause: NodeJS.ErrnoException) {
    super("the HTTP message is broken", { cause });
    const [http, code, text] = TOLD[cause.code ?? ""] ?? OTHER;
    this.reply = restError(apiError(code, text), "iam", http);
  }
}

/** A message of HTTP/2 that did not come to its end in time: of one of HTTP/1.1 node tells. */
export const lateMessage = (): BrokenMessage =>
  new BrokenMessage(Object.assign(new Error(LATE), { code: "ERR_HTTP_REQUEST_TIMEOUT" }));

/** What is told of a client that went away before its request was complete. */
export const GONE = "the client closed the connection";

const OTHER: [http: number, code: Code, text: string] = [400, "INVALID_ARGUMENT", "the message is not HTTP/1.1"];

// By node's codes of errors.
const TOLD: Record<string, typeof OTHER> = {
  HPE_HEADER_OVERFLOW: [431, "INVALID_ARGUMENT", "the head of the request is too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "INVALID_ARGUMENT", "the chunk extensions are too large"],
  HPE_INVALID_EOF_STATE: [499, "CANCELLED", GONE],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "DEADLINE_EXCEEDED", LATE],
};

/** Writes an answer where no request has come about, and ends the connection. */
export const endWith = (socket: Duplex, http: number, headers: Record<string, string>, body: string): void => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(
    `HTTP/1.1 ${http} ${STATUS_CODES[http] ?? "Client Closed Request"}\r\n${lines.join("\r\n")}\r\n\r\n${body}`,
  );
};
