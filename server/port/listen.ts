// Opens and closes listeners, and gives their addresses.
import type { AddressInfo, Server, Socket } from "node:net";
import { LOOPBACK_NAMES, UserError } from "../../schema/index.ts";
import type { Cut } from "../base/cut.ts";
import { DRAIN_MS } from "../connection/bounds.ts";

/** A port that the server cannot listen on, in one sentence. */
export class ListenError extends UserError {
  override readonly name = "ListenError";
}

export const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const { code, message } = error;
      const texts: Record<string, string> = {
        EADDRINUSE: `port ${port} on ${host} is in use; choose another, or 0 for any free one`,
        EADDRNOTAVAIL: `${host} is not an address of this machine`,
        ENOTFOUND: `${host} is not an address of this machine`,
      };
      const text = texts[code ?? ""] ?? `port ${port} on ${host} cannot be used: ${message}`;
      reject(new ListenError(text, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });

/** The address that clients use. A wildcard host becomes a loopback address. */
export const urlOf = (server: Server, host: string, scheme: "http" | "https"): string => {
  const { port } = server.address() as AddressInfo;
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

/** The audiences of an address: itself, and on loopback also by the other names. */
export const audiencesOf = (baseUrl: string): string[] => {
  const url = new URL(baseUrl);
  if (!LOOPBACK_NAMES.includes(url.hostname)) return [baseUrl];
  return [...new Set([baseUrl, ...LOOPBACK_NAMES.map((name) => `${url.protocol}//${name}:${url.port}`)])];
};

/**
 * Returns a function that ends a listener. It accepts no new connections, lets the wires close idle ones, and waits for the
 * other responses, ten seconds at most or until `cut`. Then it cuts off the rest.
 */
export const closerOf = (server: Server, drainWires: () => void): ((cut?: Cut) => Promise<void>) => {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const destroy = (which: (socket: Socket) => boolean) => {
    for (const socket of sockets) if (which(socket)) socket.destroy();
  };

  return (cut) =>
    new Promise((resolve) => {
      const cutOff = () => destroy(() => true);
      const late = setTimeout(cutOff, DRAIN_MS);
      cut?.addEventListener("abort", cutOff);
      server.close(() => {
        clearTimeout(late);
        cut?.removeEventListener("abort", cutOff);
        resolve();
      });
      drainWires();
      // To either wire, a connection that has not sent a byte is not idle.
      destroy(({ bytesRead }) => bytesRead === 0);
      if (cut?.aborted) cutOff();
    });
};
