import { expect, test } from "vitest";
import { printable, printableLines } from "../../schema/index.ts";

test.each<[string, string, string]>([
  ["an escape sequence of a terminal", "\u001b[2Jred", "\\u001b[2Jred"],
  ["line breaks and tabs", "a\r\n\tb", "a\\u000d\\u000a\\u0009b"],
  ["NUL, DEL and C1", "\u0000\u007f\u009b31m", "\\u0000\\u007f\\u009b31m"],
  ["line and paragraph separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
  ["bidirectional controls", "a\u202eb\u2066c\u2069\u061c\u200f", "a\\u202eb\\u2066c\\u2069\\u061c\\u200f"],
  ["what cannot be seen", "a\u200bb\u00adc\u{e0041}", "a\\u200bb\\u00adc\\udb40\\udc41"],
  ["letters of any script, and emoji", "Grüße, 世界, שלום 🙂", "Grüße, 世界, שלום 🙂"],
  ["text that is escaped already", "\\u001b", "\\u001b"],
])("printable text shows %s", (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

test("printable text within JSON stands for the same text, and of several lines keeps its line breaks", () => {
  const text = "a\u200b\u202e\u{e0041}\u009b";
  expect(JSON.parse(printableLines(JSON.stringify({ text })))).toEqual({ text });
  expect(printableLines("one\u001b\n  - two\r\n")).toBe("one\\u001b\n  - two\\u000d\n");
});
