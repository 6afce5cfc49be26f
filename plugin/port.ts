// The port of the plugin, on loopback. The engine's handshake has no secret, so every user of the machine could call the methods
// with the credentials of this run. Where the system says to whom a connection belongs, other users' connections are closed.
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Server, ServerCredentials } from "@grpc/grpc-js";
import { isOfOtherUser } from "./peer.ts";

/** The engine has one, and a second while it attaches itself. */
const CONNECTIONS_MAX = 64;

export const createPort = (server: Server, warn: (text: string) => void = () => {}) => {
  const sockets = new Map<string, Socket>();
  let hasWarned = false;
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => {});
    if (isOfOtherUser(socket, process.geteuid?.(), readTable)) {
      socket.destroy();
      if (!hasWarned) warn("refused a connection of another user of this machine");
      hasWarned = true;
      return;
    }
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    sockets.set(peer, socket);
    socket.once("close", () => sockets.delete(peer));
    injector.injectConnection(socket);
  });
  listener.maxConnections = CONNECTIONS_MAX;
  return {
    /** Resolves with its number. */
    listen: () =>
      new Promise<number>((resolve, reject) => {
        listener.once("error", reject);
        listener.listen(0, "127.0.0.1", () => resolve((listener.address() as AddressInfo).port));
      }),
    /** Closes a connection, by the address that grpc-js gives it. */
    drop: (peer: string): void => void sockets.get(peer)?.destroy(),
    close: (): void => {
      listener.close();
      server.forceShutdown();
      for (const socket of sockets.values()) socket.destroy();
    },
  };
};

const readTable = (name: "tcp" | "tcp6"): string | undefined => {
  try {
    return readFileSync(`/proc/self/net/${name}`, "latin1");
  } catch {
    // Another system than Linux, or one that hides it.
    return undefined;
  }
};
