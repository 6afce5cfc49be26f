// How the plugin reads requests and values, and the table of their fields, against the generated code of @pulumi/pulumi
// and google-protobuf. Every method with messages that are no messages: each is refused at once, and the next call is
// served. And connections of other users, which are refused.
import { once } from "node:events";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import aliases from "@pulumi/pulumi/proto/alias_pb.js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import fc from "fast-check";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { afterAll, expect, it } from "vitest";
import { type Ends, isOfOtherUser, type ReadTable } from "../../plugin/port.ts";
import { requestTypes, type ServedMethod } from "../../plugin/request-type.ts";
import { createPlugin, type Plugin } from "../../plugin/server.ts";
import { STRUCT, structFrom, VALUE } from "../../plugin/struct.ts";
import { type Marked, Secret } from "../../plugin/value.ts";
import {
  DEPTH_MAX,
  type FieldType,
  MalformedMessage,
  type MessageType,
  messageOf,
  readMessage,
} from "../../plugin/wire-format.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import { manualClock } from "../harness/clock.ts";
import { messageFrame, openHttp2 } from "../support/http2.ts";
import { malformedSeeds } from "../support/malformed.ts";

const check = (bytes: readonly number[] | Buffer): string => {
  try {
    readMessage(requestTypes.check, Uint8Array.from(bytes));
    return "accepted";
  } catch (error) {
    if (error instanceof MalformedMessage) return error.message;
    throw error;
  }
};

it.each(malformedSeeds)("a message of Check is refused: %s", (_reason, bytes, text) => {
  expect(check(bytes)).toBe(`the message is malformed: ${text}`);
});

it("a message of Check is accepted with every field, fields that it does not know, and values nested deeply", () => {
  const request = new provider.CheckRequest();
  request.setUrn("urn:pulumi:s::p::irm:index:Group::grün");
  let value: unknown = { number: 1.5, yes: true, nothing: null, list: ["a", {}, []] };
  for (let i = 0; i < 50; i += 1) value = { value };
  request.setNews(Struct.Struct.fromJavaScript(value as never));
  request.setOlds(new Struct.Struct());
  request.setRandomseed(Uint8Array.from([255, 254]));
  const known = Buffer.from(request.serializeBinary());
  // A number, eight bytes, a text and four bytes in fields 100 to 103.
  const unknown = Buffer.from(["a00601", "a9060000000000000000", "b20602ffff", "bd0600000000"].join(""), "hex");
  expect(check(Buffer.concat([known, unknown]))).toBe("accepted");
  expect(check([])).toBe("accepted");
});

it("a message of Check is refused when a value is nested more deeply than a reader can follow", () => {
  let bytes: Buffer = Buffer.alloc(0);
  const wrap = (tag: number, own: Buffer): Buffer => {
    const length: number[] = [];
    for (let rest = own.length; ; rest = Math.floor(rest / 128)) {
      length.push(rest < 128 ? rest : (rest % 128) + 128);
      if (rest < 128) break;
    }
    return Buffer.concat([Buffer.from([tag, ...length]), own]);
  };
  for (let i = 0; i <= DEPTH_MAX; i += 1) bytes = wrap(i % 2 === 0 ? 0x32 : 0x0a, bytes);
  expect(check(wrap(0x1a, wrap(0x0a, wrap(0x12, bytes))))).toMatch(/is nested more than 300 levels deep$/);
});

/** What the generated code reads, by the name of its reader's method. */
const TYPES: Readonly<Record<string, FieldType>> = {
  readString: "text",
  readBool: "varint",
  readInt32: "varint",
  readEnum: "varint",
  readDouble: "double",
  readBytes: "bytes",
};

interface Generated {
  deserializeBinaryFromReader(message: unknown, reader: unknown): unknown;
}

/** By the last part of their names. */
const structs = {
  ...{ Struct: Struct.Struct, Value: Struct.Value, ListValue: Struct.ListValue, View: provider.View },
  ...{ Alias: aliases.Alias, Spec: aliases.Alias.Spec, AutonamingOptions: provider.CheckRequest.AutonamingOptions },
  PropertyDependencies: provider.ConstructRequest.PropertyDependencies,
  CustomTimeouts: provider.ConstructRequest.CustomTimeouts,
  ResourceHooksBinding: provider.ConstructRequest.ResourceHooksBinding,
} as unknown as Readonly<Record<string, Generated>>;

const EMPTY: Readonly<Record<string, unknown>> = { text: "", varint: 0, double: 0 };

/** A field as the generated code reads it, and sets it by its name. */
const fieldFrom = ([, number, body = ""]: RegExpMatchArray) => {
  const [, method = ""] = /reader\.(read\w+)\(/.exec(body) ?? [];
  const [, message] = /readMessage\(value,\s*([\w.]+)\.deserializeBinaryFromReader\)/.exec(body) ?? [];
  const [, value] = /Map\.deserializeBinary\(message, reader, [\w.]+readString, [\w.]+\.(\w+)/.exec(body) ?? [];
  const [, held] = /readMessage, ([\w.]+)\.deserializeBinaryFromReader/.exec(body) ?? [];
  const [, verb, name = ""] = /msg\.(set|add|get)(\w+?)(?:Map)?\(/.exec(body) ?? [];
  return {
    ...{ number: Number(number), isMap: value !== undefined, isList: verb !== "set" },
    message: held ?? message,
    scalar: TYPES[value ?? method],
    name: name.charAt(0).toLowerCase() + name.slice(1),
  };
};

const MARK = "the value of one field";

/** Compares our table with the generated code: a value of the engine has no names. */
const compare = (type: MessageType, generated: Generated, isNamed = true, seen = new Set<unknown>()): void => {
  if (seen.has(type)) return;
  seen.add(type);
  const source = generated.deserializeBinaryFromReader.toString();
  const fields = [...source.matchAll(/case (\d+):\s*([\s\S]*?)break;/g)].map(fieldFrom);
  const { from, ...own } = type;
  expect(new Set(Object.keys(own).map(Number))).toEqual(new Set(fields.map(({ number }) => number)));
  for (const { number, isMap, isList, message, scalar, name } of fields) {
    const field = (isMap ? (own[number] as MessageType)[2] : own[number]) as FieldType;
    if (isMap) expect((own[number] as MessageType)[1]).toBe("text");
    if (message === undefined) expect([number, field]).toEqual([number, scalar]);
    else
      compare(
        field as MessageType,
        structs[message.replace(/.*\./, "")] as Generated,
        isNamed && field !== STRUCT && field !== VALUE,
        seen,
      );
    if (!isNamed || !from) continue;
    const read = Object.entries(from([[number, MARK]]) as object).filter(([, value]) => [value].flat().includes(MARK));
    // Some are only checked.
    if (read.length === 0) continue;
    expect(read).toEqual([[name, isList ? [MARK] : MARK]]);
    const { [name]: empty } = from([]) as Record<string, unknown>;
    if (isList || typeof field === "string")
      expect([name, empty]).toEqual([name, isList ? [] : EMPTY[field as string]]);
  }
};

const definitions = services.ResourceProviderService as unknown as Record<string, { requestType: Generated }>;

it.each(Object.entries(requestTypes))(
  "the table of %s has the fields that the generated code reads",
  (method, type) => {
    compare(type, (definitions[method] as { requestType: Generated }).requestType);
  },
);

const signedSecret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});

const written = (values: Marked): unknown =>
  Struct.Struct.deserializeBinary(messageOf(structFrom(values))).toJavaScript();
const read = (values: Json): Marked =>
  readMessage(STRUCT, Struct.Struct.fromJavaScript(values as never).serializeBinary());

it("values are written and read as the generated code has them", () => {
  const values = fc
    .dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ stringUnit: "grapheme" }), { noNullPrototype: true })
    // The generated code sets it as the prototype of an object.
    .filter((one) => !JSON.stringify(one).includes('"__proto__"'));
  fc.assert(
    fc.property(values, (one) => {
      expect(written(one)).toEqual(one);
      expect(read(one as Json)).toEqual(one);
    }),
  );
});

it("values are secret where they are signed", () => {
  const values = { secret: new Secret({ list: [new Secret("a"), null] }), plain: 1 };
  const signed = { secret: signedSecret({ list: [signedSecret("a"), null] }), plain: 1 };
  expect(written(values)).toEqual(signed);
  expect(read(signed)).toEqual(values);
});

it.each(["04da6b54-80e4-46f7-96ec-b56ff0331ba9", "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"])(
  "values are unknown: %s",
  (text) => expect(read({ list: [text] })).toEqual({ list: [UNKNOWN] }),
);

it("values are left out where they are undefined, and null in a list; members may have any name", () => {
  expect(written({ a: undefined, b: [undefined, null], c: null })).toEqual({ b: [null, null], c: null });
  const members = JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }') as Json;
  expect(Object.entries(readMessage(STRUCT, messageOf(structFrom(members))))).toEqual(Object.entries(members));
  expect(({} as Json).polluted).toBeUndefined();
});

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

it.each(Object.keys(requestTypes) as ServedMethod[])(
  "%s refuses each malformed message at once, and serves the next call",
  async (method) => {
    for (const [reason, bytes] of malformedSeeds) {
      // A few are fields of another type here, which are skipped.
      const refusal = refusalOf(method, bytes);
      const answer = await send(method, bytes);
      if (refusal) expect(answer, reason).toMatch(new RegExp(`^3 \\w+: ${refusal}$`));
      else expect(answer, reason).not.toMatch(/^(3|13) /);
    }
    expect(await send("getPluginInfo", [])).toBe("OK");
  },
);

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

const FRAME = messageFrame(Buffer.alloc(0));
it.each([
  ["no message", Buffer.alloc(0), "Check: the call has no message"],
  ["two messages", Buffer.concat([FRAME, FRAME]), "Check: the call has a second message"],
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
])("%s", (_reason, tables, isRefused) => expect(isOfOtherUser(ends, 1000, tables)).toBe(isRefused));

it("a client with a socket of IPv6 is found in the other table", () => {
  const tables = (uid: number): ReadTable => {
    const v6 = ["  sl  local_address", row(`${V6}${CLIENT}`, `${V6}${PLUGIN}`, uid)].join("\n");
    return (name) => (name === "tcp6" ? v6 : table(ownRow)("tcp"));
  };
  expect([1000, 1001].map((uid) => isOfOtherUser(ends, 1000, tables(uid)))).toEqual([false, true]);
});

it("a system without users refuses nobody", () => expect(isOfOtherUser(ends, undefined, table(ownRow))).toBe(false));
