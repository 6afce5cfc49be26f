// To whom a connection belongs, by the tables of Linux.
import { expect, it } from "vitest";
import { type Ends, isOfOtherUser, type ReadTable } from "../../plugin/port.ts";

// 127.0.0.1:33333, where the plugin listens; a client at 127.0.0.1:44444.
const ends: Ends = { localAddress: "127.0.0.1", localPort: 33333, remoteAddress: "127.0.0.1", remotePort: 44444 };
const [PLUGIN, CLIENT, ELSEWHERE] = ["0100007F:8235", "0100007F:AD9C", "0200007F:AD9C"];
const V6 = "0000000000000000FFFF0000";

const row = (local: string, remote: string, uid: number, state = "01") =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${String(uid).padStart(5)}        0 12345 1 0 20 4 30 10 -1`;
const own = row(PLUGIN, CLIENT, 1000);
const table =
  (...rows: string[]): ReadTable =>
  (name) =>
    name === "tcp" ? ["  sl  local_address rem_address   st", ...rows, ""].join("\n") : "";

it.each<[string, ReadTable, boolean]>([
  ["one of the same user", table(own, row(CLIENT, PLUGIN, 1000)), false],
  ["one of root", table(own, row(CLIENT, PLUGIN, 0)), false],
  ["one of another user", table(own, row(CLIENT, PLUGIN, 1001)), true],
  ["one of another user at another address of loopback, with our port", table(own, row(ELSEWHERE, PLUGIN, 1000)), true],
  ["one that its client has closed, whose user the system forgets", table(own, row(CLIENT, PLUGIN, 0, "06")), true],
  ["one whose other end is not listed", table(own), true],
  ["one on a system without the tables", () => undefined, false],
  ["one on a system whose tables do not have it", table(row("00000000:0016", "00000000:0000", 0, "0A")), false],
])("%s", (_reason, tables, isRefused) => {
  expect(isOfOtherUser(ends, 1000, tables)).toBe(isRefused);
});

it("a client with a socket of IPv6 is found in the other table", () => {
  const tables = (uid: number): ReadTable => {
    const v6 = ["  sl  local_address", row(`${V6}${CLIENT}`, `${V6}${PLUGIN}`, uid)].join("\n");
    return (name) => (name === "tcp6" ? v6 : table(own)("tcp"));
  };
  expect([1000, 1001].map((uid) => isOfOtherUser(ends, 1000, tables(uid)))).toEqual([false, true]);
});

it("a system without users refuses nobody", () => {
  expect(isOfOtherUser(ends, undefined, table(own))).toBe(false);
});
