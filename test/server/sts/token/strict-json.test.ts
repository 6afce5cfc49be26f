import { describe, expect, it } from "vitest";
import { ownValue, parseStrictJson } from "../../../../server/sts/token/compact.ts";

describe("parseStrictJson", () => {
  it("takes what has each name once in an object", () => {
    expect(parseStrictJson('{"a":1,"b":{"a":1}}')).toEqual({ a: 1, b: { a: 1 } });
  });

  it.each([
    ['{"a":1,"a":1}', "a JSON object has the same name twice", "the same value"],
    ['{"a":1,"\\u0061":2}', "a JSON object has the same name twice", "spelled with an escape"],
    ['{"a":1', "not JSON", "cut"],
    ["", "not JSON", "empty"],
  ])("refuses %s: %s (%s)", (text, message) => expect(() => parseStrictJson(text)).toThrow(new TypeError(message)));

  it("refuses bytes that are not UTF-8", () => {
    expect(() => parseStrictJson(Buffer.from('"\xff"', "latin1"))).toThrow(new TypeError("not UTF-8"));
  });

  it("does not repeat the input in its errors", () => {
    expect(() => parseStrictJson("secret")).toThrow(new TypeError("not JSON"));
  });
});

describe("ownValue", () => {
  it("reads what the object itself has", () => {
    const object = JSON.parse('{"__proto__":"x"}');
    expect([ownValue(object, "__proto__"), ownValue(object, "constructor"), ownValue(object, "toString")]).toEqual([
      "x",
      undefined,
      undefined,
    ]);
  });
});
