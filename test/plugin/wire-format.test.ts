// How the plugin reads requests and values, and the table of their fields, against the generated code of @pulumi/pulumi.
import aliases from "@pulumi/pulumi/proto/alias_pb.js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { describe, expect, it } from "vitest";
import { requestTypes } from "../../plugin/request-type.ts";
import {
  DEPTH_MAX,
  type FieldType,
  MalformedMessage,
  type MessageType,
  readMessage,
} from "../../plugin/wire-format.ts";
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

describe("a message of Check", () => {
  it.each(malformedSeeds)("is refused: %s", (_reason, bytes, text) => {
    expect(check(bytes)).toBe(`the message is malformed: ${text}`);
  });

  it("is accepted with every field, fields that it does not know, and values nested deeply", () => {
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

  it("is refused when a value is nested more deeply than a reader can follow", () => {
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
  new (): unknown;
  deserializeBinaryFromReader(message: unknown, reader: unknown): unknown;
}

const structs: Readonly<Record<string, Generated>> = {
  "google_protobuf_struct_pb.Struct": Struct.Struct as unknown as Generated,
  "proto.google.protobuf.Struct": Struct.Struct as unknown as Generated,
  "proto.google.protobuf.Value": Struct.Value as unknown as Generated,
  "proto.google.protobuf.ListValue": Struct.ListValue as unknown as Generated,
  "proto.pulumirpc.View": provider.View as unknown as Generated,
  "proto.pulumirpc.CheckRequest.AutonamingOptions": provider.CheckRequest.AutonamingOptions as unknown as Generated,
  ...Object.fromEntries(
    (["PropertyDependencies", "CustomTimeouts", "ResourceHooksBinding"] as const).map((name) => [
      `proto.pulumirpc.ConstructRequest.${name}`,
      provider.ConstructRequest[name] as unknown as Generated,
    ]),
  ),
  "google_protobuf_struct_pb.Value": Struct.Value as unknown as Generated,
  "pulumi_alias_pb.Alias": aliases.Alias as unknown as Generated,
  "proto.pulumirpc.Alias.Spec": aliases.Alias.Spec as unknown as Generated,
};

/** The same table from the generated code. */
const typeOf = (generated: Generated, known = new Map<Generated, MessageType>()): MessageType => {
  const before = known.get(generated);
  if (before) return before;
  const type: MessageType = {};
  known.set(generated, type);
  const below = (name: string): MessageType => {
    const own = structs[name];
    if (!own) throw new Error(`${name} is unknown to this test`);
    return typeOf(own, known);
  };
  const source = generated.deserializeBinaryFromReader.toString();
  for (const [, number, body = ""] of source.matchAll(/case (\d+):\s*([\s\S]*?)break;/g)) {
    const [, method = ""] = /reader\.(read\w+)\(/.exec(body) ?? [];
    const [, message] = /readMessage\(value,\s*([\w.]+)\.deserializeBinaryFromReader\)/.exec(body) ?? [];
    const [, value] = /Map\.deserializeBinary\(message, reader, [\w.]+readString, [\w.]+\.(\w+)/.exec(body) ?? [];
    const [, held] = /readMessage, ([\w.]+)\.deserializeBinaryFromReader/.exec(body) ?? [];
    const own = value ? { 1: "text", 2: held ? below(held) : TYPES[value] } : message ? below(message) : TYPES[method];
    if (own === undefined) throw new Error(`field ${number} is read by ${method}, which this test does not know`);
    type[Number(number)] = own as FieldType;
  }
  return type;
};

/** The types of the fields alone. */
const fieldsOf = (type: MessageType, known = new Map<MessageType, MessageType>()): MessageType => {
  const before = known.get(type);
  if (before) return before;
  const { from: _from, ...fields } = type;
  const own: MessageType = {};
  known.set(type, own);
  for (const [number, field] of Object.entries(fields))
    own[Number(number)] = typeof field === "object" ? fieldsOf(field as MessageType, known) : (field as FieldType);
  return own;
};

const definitions = services.ResourceProviderService as unknown as Record<string, { requestType: Generated }>;

describe.each(Object.entries(requestTypes))("the table of %s", (method, type) => {
  const { requestType } = definitions[method] as { requestType: Generated };

  it("has the fields that the generated code reads", () => {
    expect(fieldsOf(type)).toEqual(typeOf(requestType));
  });

  it("has them by the names that the generated code writes", () => {
    const request = new requestType() as Record<string, (value?: unknown) => unknown> & Struct.Struct;
    const empty: object = readMessage<object>(type, new Uint8Array());
    const values = Object.entries(empty).map(([name, value]) => [name, valueLike(value, name)] as const);
    for (const [name, value] of values) {
      const member = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      const { [`get${member}Map`]: mapOf, [`set${member}List`]: setList } = request;
      const entries: unknown[] = Array.isArray(value) ? value : [];
      if (mapOf)
        for (const [key, held] of entries as [string, unknown][])
          (mapOf.call(request) as Map<string, unknown>).set(key, generatedLike(held));
      else if (setList) setList.call(request, entries.map(generatedLike));
      else request[`set${member}`]?.(typeof value === "object" ? Struct.Struct.fromJavaScript(value as never) : value);
    }
    expect(readMessage(type, request.serializeBinary())).toEqual(Object.fromEntries(values));
  });
});

/** Repeated fields, with a value of each. */
const LISTS: Readonly<Record<string, unknown[]>> = {
  aliases: [
    { urn: "", spec: { name: "n", type: "t", stack: "s", project: "p", parenturn: "", noparent: 1 } },
    { urn: "urn", spec: { name: "", type: "", stack: "", project: "", parenturn: "", noparent: 0 } },
  ],
  config: [["irm:baseUrl", "https://localhost"]],
  configsecretkeys: ["irm:token", "irm:other"],
  dependencies: ["first", "second"],
  ignorechanges: ["description"],
  inputdependencies: [["policy", { urns: ["first", "second"] }]],
  providers: [["irm", "reference"]],
};

const valueLike = (empty: unknown, name: string) => {
  if (Array.isArray(empty)) return LISTS[name];
  if (empty === "") return name;
  return empty === 0 ? 1 : { name };
};

/** The message of a value in `LISTS`. */
const generatedLike = (value: unknown): unknown => {
  if (typeof value === "string") return value;
  const { urns, urn, spec } = value as { urns?: string[]; urn?: string; spec?: Record<string, unknown> };
  if (urns !== undefined) {
    const dependencies = new provider.ConstructRequest.PropertyDependencies();
    dependencies.setUrnsList(urns);
    return dependencies;
  }
  const alias = new aliases.Alias();
  if (urn !== "") {
    alias.setUrn(urn as string);
    return alias;
  }
  const own = new aliases.Alias.Spec();
  const setters = own as unknown as Record<string, (member: unknown) => void>;
  for (const [name, member] of Object.entries(spec ?? {}))
    if (member !== "") setters[`set${name.charAt(0).toUpperCase()}${name.slice(1)}`]?.call(own, member);
  alias.setSpec(own);
  return alias;
};
