// Sockets: a listener on a port, its address, its end.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A port that cannot be listened on, in one sentence. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "is in use; choose another, or 0 for any free one" : error.message;
      reject(
        new ListenError(
          `port ${port} on ${host} ${error.code === "EADDRINUSE" ? reason : `cannot be used: ${reason}`}`,
        ),
      );
    });
    server.listen(port, host, () => resolve());
  });

/** The address that clients use; a wildcard host is reached by loopback. */
export const urlOf = (server: Server, host: string): string => {
  const { port } = server.address() as AddressInfo;
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

/** The audiences of an address: itself, and on loopback its other names. */
export const audiencesOf = (baseUrl: string): string[] => {
  const url = new URL(baseUrl);
  const names = ["127.0.0.1", "localhost", "[::1]"];
  if (!names.includes(url.hostname)) return [baseUrl];
  return [...new Set([baseUrl, ...names.map((name) => `http://${name}:${url.port}`)])];
};

const DRAIN_MS = 10_000;

/** Takes no new requests and waits for those under way, ten seconds at most. */
export const closeListener = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
