// Every method of the plugin with messages that are no messages: each is refused at once, and the next call is served. And connections of other
// users, which are refused.
import { once } from "node:events";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { afterAll, describe, expect, it } from "vitest";
import { type Ends, isOfOtherUser, type ReadTable } from "../../plugin/port.ts";
import { requestTypes, type ServedMethod } from "../../plugin/request-type.ts";
import { createPlugin, type Plugin } from "../../plugin/server.ts";
import { readMessage } from "../../plugin/wire-format.ts";
import { manualClock } from "../harness/clock.ts";
import { messageFrame, openHttp2 } from "../support/http2.ts";
import { malformedSeeds } from "../support/malformed.ts";

const plugin: Plugin = createPlugin({
  version: "1.2.3",
  schema: () => "{}",
  environment: { env: {}, clock: manualClock(), transport: () => Promise.reject(new Error("no")), log: () => {} },
  log: { info: () => undefined, during: (_urn, call) => call() },
  attached: () => undefined,
  messageMs: 50,
});
const port: number = await plugin.listen();
const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
afterAll(() => {
  client.close();
  plugin.close();
});

const pathOf = (method: string): string =>
  (services.ResourceProviderService as unknown as Record<string, { path: string }>)[method]?.path ?? "";

const asItIs = (bytes: Buffer) => bytes;
const send = (method: string, bytes: ArrayLike<number>): Promise<string> =>
  new Promise((resolve) => {
    const answer = (error: ServiceError | null) => resolve(error ? `${error.code} ${error.details}` : "OK");
    client.makeUnaryRequest(pathOf(method), asItIs, asItIs, Buffer.from(bytes), new Metadata(), {}, answer);
  });

describe.each(Object.keys(requestTypes) as ServedMethod[])("%s", (method) => {
  it("refuses each malformed message at once, and serves the next call", async () => {
    for (const [reason, bytes] of malformedSeeds) {
      // A few are fields of another type here, which are skipped.
      const refusal = refusalOf(method, bytes);
      const answer = await send(method, bytes);
      if (refusal) expect(answer, reason).toMatch(new RegExp(`^3 \\w+: ${refusal}$`));
      else expect(answer, reason).not.toMatch(/^(3|13) /);
    }
    expect(await send("getPluginInfo", [])).toBe("OK");
  });
});

const refusalOf = (method: ServedMethod, bytes: ArrayLike<number>): string | undefined => {
  try {
    return void readMessage<unknown>(requestTypes[method], Uint8Array.from(bytes));
  } catch (error) {
    return (error as Error).message;
  }
};

it("a method that is not served is unimplemented, whatever its message is", async () => {
  for (const method of ["call", "parameterize", "getMapping"])
    expect(await send(method, [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])).toMatch(/^12 The server does not implement/);
});

const open = () => {
  const session = openHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  const headers = { ":method": "POST", ":path": pathOf("check"), "content-type": "application/grpc", te: "trailers" };
  const stream = session.request(headers);
  stream.on("error", () => {});
  return { session, stream, closed: new Promise<void>((resolve) => session.once("close", () => resolve())) };
};

it("a call whose message does not come in time is refused, and its connection closed", async () => {
  const { stream, closed } = open();
  stream.write(messageFrame(Buffer.alloc(1), { length: 100 }));
  const [head] = await once(stream, "response");
  expect(head).toMatchObject({ "grpc-status": "4" });
  expect(decodeURI(String(head["grpc-message"]))).toBe("Check: the message did not arrive within 0.05 s");
  await closed;
  expect(await send("getPluginInfo", [])).toBe("OK");
});

const EMPTY = messageFrame(Buffer.alloc(0));
it.each([
  ["no message", Buffer.alloc(0), "Check: the call has no message"],
  ["two messages", Buffer.concat([EMPTY, EMPTY]), "Check: the call has a second message"],
])("a call with %s is refused", async (_, bytes, text) => {
  const { session, stream } = open();
  stream.end(bytes);
  const [head] = await once(stream, "response");
  expect([head["grpc-status"], decodeURI(String(head["grpc-message"]))]).toEqual(["3", text]);
  session.destroy();
});

it("a call with a message of more than 64 MiB is refused by its length", async () => {
  const { session, stream } = open();
  stream.write(messageFrame(Buffer.alloc(1), { length: 64 * 1024 * 1024 + 1 }));
  const [head] = await once(stream, "response");
  expect(head).toMatchObject({ "grpc-status": "8" });
  session.destroy();
});

// To whom a connection belongs, by the tables of Linux.
// 127.0.0.1:33333, where the plugin listens; a client at 127.0.0.1:44444.
const ends: Ends = { localAddress: "127.0.0.1", localPort: 33333, remoteAddress: "127.0.0.1", remotePort: 44444 };
const [PLUGIN, CLIENT, ELSEWHERE] = ["0100007F:8235", "0100007F:AD9C", "0200007F:AD9C"];
const V6 = "0000000000000000FFFF0000";

const row = (local: string, remote: string, uid: number, state = "01") =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${String(uid).padStart(5)}        0 12345 1 0 20 4 30 10 -1`;
const ownRow = row(PLUGIN, CLIENT, 1000);
const table =
  (...rows: string[]): ReadTable =>
  (name) =>
    name === "tcp" ? ["  sl  local_address rem_address   st", ...rows, ""].join("\n") : "";

it.each<[string, ReadTable, boolean]>([
  ["one of the same user", table(ownRow, row(CLIENT, PLUGIN, 1000)), false],
  ["one of root", table(ownRow, row(CLIENT, PLUGIN, 0)), false],
  ["one of another user", table(ownRow, row(CLIENT, PLUGIN, 1001)), true],
  ["one of another user at another address, with our port", table(ownRow, row(ELSEWHERE, PLUGIN, 1000)), true],
  ["one that its client has closed, whose user the system forgets", table(ownRow, row(CLIENT, PLUGIN, 0, "06")), true],
  ["one whose other end is not listed", table(ownRow), true],
  ["one on a system without the tables", () => undefined, false],
  ["one on a system whose tables do not have it", table(row("00000000:0016", "00000000:0000", 0, "0A")), false],
])("%s", (_reason, tables, isRefused) => {
  expect(isOfOtherUser(ends, 1000, tables)).toBe(isRefused);
});

it("a client with a socket of IPv6 is found in the other table", () => {
  const tables = (uid: number): ReadTable => {
    const v6 = ["  sl  local_address", row(`${V6}${CLIENT}`, `${V6}${PLUGIN}`, uid)].join("\n");
    return (name) => (name === "tcp6" ? v6 : table(ownRow)("tcp"));
  };
  expect([1000, 1001].map((uid) => isOfOtherUser(ends, 1000, tables(uid)))).toEqual([false, true]);
});

it("a system without users refuses nobody", () => {
  expect(isOfOtherUser(ends, undefined, table(ownRow))).toBe(false);
});
