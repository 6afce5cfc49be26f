// What a record says is a text of the program, whatever it holds.
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { writerOf } from "../../../access/export/literal.ts";
import { TYPESCRIPT } from "../../../access/export/typescript.ts";
import type { Value } from "../../../access/export/value.ts";
import { ODD } from "../../harness/by-hand.ts";

const spelling = { reference: () => "", secret: () => "" };
const textOf = (value: Value): string => writerOf(TYPESCRIPT, spelling).valueText(value, "", 0);

/** Plain maps, for the context of another realm has objects of its own. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([key, one]) => [key, plain(one)]));
};
const evaluated = (text: string): unknown => plain(runInNewContext(`"use strict";(${text})`));

test.each([ODD, "__proto__", "constructor", "\n\r\t\0", "\u2028\u2029", "\ud800", "</script>", `\${process.exit()}`])(
  "%j is the same text as a value, as a key and in a list",
  (text) => {
    expect(evaluated(textOf(text))).toBe(text);
    expect(evaluated(textOf(new Map([[text, [text]]])))).toEqual(new Map([[text, [text]]]));
  },
);

test("no text shows what a reader cannot see, or ends a line", () => {
  expect(textOf("a\u202eb\u200bc\nd")).toBe('"a\\u202eb\\u200bc\\nd"');
});

test("any value evaluates to itself", () => {
  const key = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "toString", "a-b", "valid"));
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: "binary" }),
      fc.integer(),
      fc.boolean(),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
    ),
  }));
  fc.assert(
    fc.property(value, (one) => {
      expect(evaluated(textOf(one))).toEqual(plain(one));
    }),
  );
});
