// A text of others inside a sentence of ours.

import { Document, isMap, isScalar, isSeq, type Node, Scalar, type ScalarTag, type Tags, visit } from "yaml";
import { printable, printableLines } from "../schema/index.ts";

/** Writes JSON, which distinguishes an escaped character from a backslash in the text. */
export const quote = (value: unknown): string => printable(JSON.stringify(String(value)));

// A list in a sentence.

/** `a, b and c` */
export const joinWithAnd = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** `a, b and 3 more` */
export const shortList = (parts: readonly string[], most: number, words = ""): string =>
  parts.slice(0, most).join(", ") + (parts.length > most ? ` and ${parts.length - most} more${words}` : "");

// A time, and a span of time, in the form for people and files.

/** RFC 3339 in UTC, in whole seconds. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

const UNITS = [
  [365 * 24 * 60 * 60, "year"],
  [24 * 60 * 60, "day"],
  [60 * 60, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** `2 hours`, in the largest unit that fits; at least `1 second`. */
export const spanText = (ms: number): string => {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  // 59 minutes and 58 seconds are an hour.
  const [size, word] = UNITS.find(([one]) => seconds >= 0.99 * one) ?? [1, "second"];
  const count = Math.round(seconds / size);
  return `${count} ${word}${count === 1 ? "" : "s"}`;
};

/** `2027-03-01T00:00:00Z (in 2 hours)`, `2027-03-01T00:00:00Z (2 hours ago)`; a time outside the calendar, as a number of seconds. */
export const relativeTimeText = (ms: number, nowMs: number): string => {
  if (Number.isNaN(new Date(ms).getTime())) return String(ms / 1000);
  const span = spanText(Math.abs(ms - nowMs));
  return `${timeText(ms)} (${ms > nowMs ? `in ${span}` : `${span} ago`})`;
};

// YAML in which a reader sees each character, and each text is read as a text. The engine also reads it, and takes `1_000` for a number,
// `<<` for a merge and a date for a time, as YAML 1.1 does.

/** `isFlow`: whether the map under this key is written on one line. Lists of scalars are, unless `isLong`. */
export const yamlText = (value: unknown, isFlow?: (key: string) => boolean, isLong?: boolean): string => {
  const yaml = new Document(undefined, YAML_OPTIONS);
  yaml.contents = yamlNode(yaml, value, isFlow, isLong);
  return yaml.toString({ lineWidth: 0 });
};

/** A value as a node of a document with `YAML_OPTIONS`. */
export const yamlNode = (
  document: Document.Parsed | Document,
  value: unknown,
  isFlow: (key: string) => boolean = () => false,
  isLong = false,
): Node => {
  const root = document.createNode(value) as Node;
  visit(root, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && (escaped(node.value) !== node.value || /[\r\n]/.test(node.value)))
        node.format = ESCAPED;
    },
    Pair: (_, { key, value: held }) => {
      const isShort = isScalar(key) && isFlow(String(key.value));
      if ((isMap(held) && isShort) || (isSeq(held) && !isLong && held.items.every(isScalar))) held.flow = true;
    },
  });
  return root;
};

const ESCAPED = "ESCAPED";
const AS_IT_IS = "AS_IT_IS";

const textWith = (format: string, stringify: (scalar: Scalar) => string): ScalarTag => ({
  tag: "tag:yaml.org,2002:str",
  default: true,
  format,
  identify: (value) => typeof value === "string",
  resolve: (text) => text,
  stringify,
});

export const YAML_OPTIONS = {
  compat: "yaml-1.1",
  customTags: (tags: Tags) => [
    ...tags,
    // Escapes are read only in double quotes.
    textWith(ESCAPED, ({ value }) => escaped(JSON.stringify(value))),
    textWith(AS_IT_IS, ({ source = "" }) => source),
  ],
} as const;

/** Keeps a text without quotes as it was read: YAML 1.1 may read it as another value, but this is how the file spells it. */
export const keepAsItIs = (scalar: Scalar): void => {
  if (scalar.type === Scalar.PLAIN && typeof scalar.value === "string" && !scalar.source?.includes("\n"))
    scalar.format = AS_IT_IS;
};

// Not as two units of UTF-16, which the engine does not read; it does not read these two characters unescaped either.
const escaped = (text: string) =>
  printableLines(
    text
      .replace(/[\ufffe\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)
      .replace(/[\u{10000}-\u{10ffff}]/gu, (one) =>
        printable(one) === one ? one : `\\U${one.codePointAt(0)?.toString(16).padStart(8, "0")}`,
      ),
  );
