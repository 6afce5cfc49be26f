// The connections of a server, on all its ports. At the limit, the connection that has waited longest for its client is closed,
// so that a client with a request gets in.
import type { Socket } from "node:net";
import type { Log } from "../base/log.ts";
import { addressGroup } from "../base/rate-limit.ts";

/** A connection, for the bounds on number and memory. */
export interface Connection {
  /** Ends it, for a reason that the log gets. */
  close(reason: string): void;
  /** Differs once the client has taken bytes of its answers, if its protocol shows that. */
  progress(): unknown;
}

/** Work on a connection. While the server works on a request, the connection is never closed for another. */
export interface Work {
  connection: Connection;
  /** the server waits for the client: for a body, or for the next message */
  wait(): void;
  resume(): void;
  end(): void;
}

export type Connections = ReturnType<typeof createConnections>;

type Ports = Pick<Socket, "remoteAddress" | "remotePort" | "localPort">;

interface OwnConnection extends Connection {
  network: string;
  working: number;
  open: number;
  end: () => void;
}

/** `forget`: called when a connection has closed. */
export const createConnections = (max: number, log: Log, forget: (connection: Connection) => void = () => {}) => {
  // One network may have half of the connections.
  const maxOfOne = Math.max(1, Math.floor(max / 2));
  // In the order in which they began to wait for their clients.
  const connections = new Map<string, OwnConnection>();
  const ofNetwork = new Map<string, number>();

  const remove = (key: string, connection: OwnConnection) => {
    // A new connection may have the same ports by now.
    if (connections.get(key) !== connection) return;
    connections.delete(key);
    const remaining = (ofNetwork.get(connection.network) ?? 1) - 1;
    if (remaining > 0) ofNetwork.set(connection.network, remaining);
    else ofNetwork.delete(connection.network);
  };

  const makeRoom = (isOne: (connection: OwnConnection) => boolean) => {
    for (const connection of connections.values()) {
      if (connection.working > 0 || !isOne(connection)) continue;
      connection.close("too many connections");
      return true;
    }
    return false;
  };

  const hasRoom = (network: string) => {
    if ((ofNetwork.get(network) ?? 0) >= maxOfOne) return makeRoom((other) => other.network === network);
    return connections.size < max || makeRoom(() => true);
  };

  return {
    /** A connection opens. False: there is no room for it. */
    admit: (socket: Socket): boolean => {
      const network = addressGroup(socket.remoteAddress ?? "");
      if (!hasRoom(network)) {
        log("info", "connection refused", { reason: "too many connections", network });
        return false;
      }
      const key = keyOf(socket);
      const connection: OwnConnection = {
        network,
        working: 0,
        open: 0,
        end: () => void socket.destroy(),
        progress: () => undefined,
        close: (reason) => {
          remove(key, connection);
          connection.end();
          log("info", "connection closed", { reason, network });
        },
      };
      connections.set(key, connection);
      ofNetwork.set(network, (ofNetwork.get(network) ?? 0) + 1);
      socket.once("close", () => {
        remove(key, connection);
        forget(connection);
      });
      return true;
    },
    /** A request, or a stream, begins on it. */
    begin: (socket: Ports | undefined): Work => {
      const key = socket ? keyOf(socket) : "";
      const connection = connections.get(key);
      if (!connection) return { connection: CLOSED, wait: () => {}, resume: () => {}, end: () => {} };
      let isWorking = false;
      const setWorking = (next: boolean) => {
        if (isWorking === next) return;
        isWorking = next;
        connection.working += next ? 1 : -1;
        if (connection.working > 0 || connections.get(key) !== connection) return;
        // It begins to wait now, and so moves to the end.
        connections.delete(key);
        connections.set(key, connection);
      };
      connection.open += 1;
      setWorking(true);
      let hasEnded = false;
      return {
        connection,
        wait: () => setWorking(false),
        resume: () => setWorking(!hasEnded),
        end: () => {
          setWorking(false);
          if (!hasEnded) connection.open -= 1;
          hasEnded = true;
        },
      };
    },
    /** True when no work is under way, so that it may be closed for being idle. */
    isIdle: (socket: Socket) => (connections.get(keyOf(socket))?.open ?? 0) === 0,
    /** Sets how to end a connection of HTTP/2, which can give a reason, and how to read the progress of its client. */
    useHttp2: (socket: Socket, end: () => void, progress: () => unknown) => {
      const connection = connections.get(keyOf(socket));
      if (connection) Object.assign(connection, { end, progress });
    },
    count: () => connections.size,
  };
};

const CLOSED: Connection = { close: () => {}, progress: () => undefined };

// One key for a socket and for the sockets of TLS and HTTP/2 on top of it.
const keyOf = ({ remoteAddress, remotePort, localPort }: Ports) => `${localPort} ${remoteAddress} ${remotePort}`;
