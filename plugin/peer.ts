// To whom the other end of a connection on loopback belongs (Linux, proc_pid_net(5): /proc/net/tcp lists both ends of it).
import type { Socket } from "node:net";
import { endianness } from "node:os";

export type Ends = Pick<Socket, "localAddress" | "localPort" | "remoteAddress" | "remotePort">;
export type ReadTable = (name: "tcp" | "tcp6") => string | undefined;

const ESTABLISHED = "01";
const ROOT = 0;

/**
 * True where the system lists our end of the connection and not an open one of this user, or of root, for the other. The system
 * forgets the user of an end that is closing, so such a connection is refused too.
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
  // A table without our own end says nothing about the other.
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

const isAt = (text: string, address: Address): boolean => address.includes(text);

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
