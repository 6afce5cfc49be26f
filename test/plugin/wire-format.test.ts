// How the plugin reads requests and values, and the table of their fields, against the generated code of @pulumi/pulumi and google-protobuf.
import aliases from "@pulumi/pulumi/proto/alias_pb.js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import fc from "fast-check";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { expect, it } from "vitest";
import { requestTypes } from "../../plugin/request-type.ts";
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
  const own = { number: Number(number), isMap: value !== undefined, isList: verb !== "set" };
  return {
    ...own,
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
  (text) => {
    expect(read({ list: [text] })).toEqual({ list: [UNKNOWN] });
  },
);

it("values are left out where they are undefined, and null in a list; members may have any name", () => {
  expect(written({ a: undefined, b: [undefined, null], c: null })).toEqual({ b: [null, null], c: null });
  const members = JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }') as Json;
  const result = readMessage(STRUCT, messageOf(structFrom(members)));
  expect(Object.entries(result)).toEqual(Object.entries(members));
  expect(({} as Json).polluted).toBeUndefined();
});
