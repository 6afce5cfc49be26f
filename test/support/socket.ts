// A connection that is written to by hand: half a request, several, or none.
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";

/** A bare socket, once it is connected. */
export const openSocket = async (baseUrl: string): Promise<Socket> => {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
};

/** Errors are ends: a reset is one of the ways in which the other side may go. */
export const openConnection = async (baseUrl: string) => {
  const socket = await openSocket(baseUrl);
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.on("error", () => {});
  /** Everything that came until the other side ended the connection. */
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  /** Everything that has come so far, once it matches. */
  const until = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(text)) {
      if (socket.closed) throw new Error(`the connection ended before ${pattern} came: ${JSON.stringify(text)}`);
      await Promise.race([once(socket, "data"), ended]);
    }
    return text;
  };
  /** Goes away without a word. */
  const reset = (): void => void socket.resetAndDestroy();
  return { write: (own: string): void => void socket.write(own), until, ended, reset };
};

/** The head of a POST of JSON, up to where its body begins. */
export const postHead = (path: string, token: string, length: number, ...further: string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${token}`,
    "content-type: application/json",
    ...further,
    `content-length: ${length}`,
    "",
    "",
  ].join("\r\n");

/** A reset and GOAWAY close it too: `once` of node:events would reject with the error. */
export const closeOf = (connection: Socket | ClientHttp2Session) => {
  connection.on("error", () => {});
  return new Promise<void>((resolve) => connection.once("close", () => resolve()));
};
