// The port of the plugin, on loopback. The engine's handshake has no secret, so every user of the machine could call the methods with the
// credentials of this run. Where the system shows the owner of a connection, the plugin closes those of other users.
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { endianness } from "node:os";
import { type Server, ServerCredentials } from "@grpc/grpc-js";

/** The engine opens one connection, and a second one while it attaches itself. */
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
    drop: (peer: string) => void sockets.get(peer)?.destroy(),
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
    // The system is not Linux, or hides the table.
    return undefined;
  }
};

// The owner of the other end of a loopback connection (Linux, proc_pid_net(5): /proc/net/tcp lists both ends of it).

export type Ends = Pick<Socket, "localAddress" | "localPort" | "remoteAddress" | "remotePort">;
export type ReadTable = (name: "tcp" | "tcp6") => string | undefined;

const ESTABLISHED = "01";
const ROOT = 0;

/**
 * True where the system lists our end of the connection and not an open one of this user, or of root, for the other. The system forgets the
 * user of an end that is closing, so the plugin refuses such a connection as well.
 */
export const isOfOtherUser = (ends: Ends, ownUid: number | undefined, readTable: ReadTable): boolean => {
  if (ownUid === undefined) return false;
  const { localAddress = "", localPort = 0, remoteAddress = "", remotePort = 0 } = ends;
  const [local, remote] = [addressOf(localAddress, localPort), addressOf(remoteAddress, remotePort)];
  let [own, other]: (Row | undefined)[] = [];
  // A machine may have thousands of connections, and takes 10 ms to write a table of them.
  for (const name of ["tcp", "tcp6"] as const) {
    if (own && other) break;
    const rows = rowsOf(readTable(name) ?? "", local);
    const find = (from: Address, to: Address) => rows.find((row) => isAt(row.local, from) && isAt(row.remote, to));
    own ??= find(local, remote);
    other ??= find(remote, local);
  }
  // A table that lacks our own end proves nothing about the other end.
  if (!own) return false;
  return other === undefined || other.state !== ESTABLISHED || ![ownUid, ROOT].includes(other.uid);
};

interface Row {
  local: string;
  remote: string;
  state: string;
  uid: number;
}

/** The rows with this address at one of their ends. */
const rowsOf = (table: string, end: Address): Row[] =>
  table
    .split("\n")
    .slice(1)
    .filter((line) => end.some((address) => line.includes(address)))
    .flatMap((line) => {
      const [, local, remote, state, , , , uid] = line.trim().split(/\s+/);
      return local && remote && state && uid ? [{ local, remote, state, uid: Number(uid) }] : [];
    });

/** An address of IPv4 as both tables write it. */
type Address = readonly [v4: string, v6: string];

const isAt = (text: string, address: Address) => address.includes(text);

const addressOf = (address: string, port: number): Address => {
  const bytes = address
    .replace(/^::ffff:/i, "")
    .split(".")
    .map(Number);
  const ordered = endianness() === "LE" ? bytes.toReversed() : bytes;
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, "0");
  const v4 = ordered.map((byte) => hex(byte, 2)).join("");
  const mapped = endianness() === "LE" ? "FFFF0000" : "0000FFFF";
  const end = `:${hex(port, 4)}`;
  return [`${v4}${end}`, `${"0".repeat(16)}${mapped}${v4}${end}`];
};
