// The engine's values on the wire, against the generated code of google-protobuf.
import fc from "fast-check";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { describe, expect, it } from "vitest";
import { STRUCT, structFrom } from "../../plugin/struct.ts";
import { type Marked, Secret } from "../../plugin/value.ts";
import { messageOf, readMessage } from "../../plugin/wire-format.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";

const signedSecret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});

const written = (values: Marked): unknown =>
  Struct.Struct.deserializeBinary(messageOf(structFrom(values))).toJavaScript();
const read = (values: Json): Marked =>
  readMessage(STRUCT, Struct.Struct.fromJavaScript(values as never).serializeBinary());

describe("values", () => {
  it("are written and read as the generated code has them", () => {
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

  it("are secret where they are signed", () => {
    const values = { secret: new Secret({ list: [new Secret("a"), null] }), plain: 1 };
    const signed = { secret: signedSecret({ list: [signedSecret("a"), null] }), plain: 1 };
    expect(written(values)).toEqual(signed);
    expect(read(signed)).toEqual(values);
  });

  it.each(["04da6b54-80e4-46f7-96ec-b56ff0331ba9", "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"])(
    "are unknown: %s",
    (text) => {
      expect(read({ list: [text] })).toEqual({ list: [UNKNOWN] });
    },
  );

  it("are left out where they are undefined, and null in a list", () => {
    expect(written({ a: undefined, b: [undefined, null], c: null })).toEqual({ b: [null, null], c: null });
  });

  it("have members of any name", () => {
    const members = JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }') as Json;
    const result = readMessage(STRUCT, messageOf(structFrom(members)));
    expect(Object.entries(result)).toEqual(Object.entries(members));
    expect(({} as Json).polluted).toBeUndefined();
  });
});
