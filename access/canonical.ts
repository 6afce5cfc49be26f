// JSON in one spelling, and its digest: members in the order of their UTF-16 code units, no spaces (RFC 8785).
import { createHash } from "node:crypto";
import { isObject } from "../schema/index.ts";

export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  members.sort(([a], [b]) => compare(a, b));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join()}}`;
};

/** The items sorted by a text of each. */
export const inOrderOf = <T>(items: readonly T[], keyOf: (item: T) => string): T[] =>
  items
    .map((item) => ({ item, text: keyOf(item) }))
    .sort((a, b) => compare(a.text, b.text))
    .map(({ item }) => item);

/** `sha256:` and 64 hexadecimal digits, of the canonical form */
export const digestOf = (value: unknown): string =>
  `sha256:${createHash("sha256").update(canonical(value)).digest("hex")}`;

/** A list or an object with changed items; any other value unchanged. */
export const mapItems = (value: unknown, change: (item: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return value.map(change);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(item)]));
};

// Whether two values of records mean the same to the API.

/** Equal for values that the API treats as equal: members in any order, absent or empty. */
export const equalityKey = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(equalityKey).sort().join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? "");
  const members = Object.entries(value)
    .map(([name, one]) => [name, equalityKey(one)])
    .filter(([, text]) => !['""', "{}", "[]", "null"].includes(text as string));
  return `{${members
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .sort()
    .join()}}`;
};

/** Compares texts by their UTF-16 units, for `sort`: the order is equal on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
