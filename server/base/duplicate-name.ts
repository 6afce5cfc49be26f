// Finds names that appear twice in one object of JSON. RFC 8259 section 4 leaves their meaning to the parser, and
// `JSON.parse` keeps the last: a reader that keeps the first would see another request. Linear.

import { noteSize } from "../../schema/index.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** `value`: the result of `JSON.parse(text)`. A repeated name leaves a colon without a key. */
export const hasDuplicateName = (text: string, value: unknown): boolean => countKeys(value) !== countColons(text);

/** The colons outside of strings. `text` must be JSON. */
const countColons = (text: string): number => {
  let count = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charCodeAt(i);
    if (character === QUOTE) isInString = !isInString;
    else if (isInString && character === BACKSLASH) i += 1;
    else if (!isInString && character === COLON) count += 1;
  }
  return count;
};

// Without recursion: JSON nests deeper than the stack reaches.
const countKeys = (value: unknown): number => {
  const open: object[] = [];
  let count = 0;
  const enter = (held: unknown) => {
    if (typeof held === "object" && held !== null) open.push(held);
  };
  enter(value);
  for (let held = open.pop(); held !== undefined; held = open.pop()) {
    if (Array.isArray(held)) for (let i = 0; i < held.length; i += 1) enter(held[i]);
    else {
      const before = count;
      for (const key in held) {
        count += 1;
        enter((held as Record<string, unknown>)[key]);
      }
      noteSize(held, count - before);
    }
  }
  return count;
};

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

/** The paths of the repeated names, at most ten. `text` must be JSON. Slower than `hasDuplicateName`. */
export const duplicateNames = (text: string): string[] => {
  const open: { path: string; names: Set<string>; item: number }[] = [];
  const found = new Set<string>();
  let last = "";
  let path = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const holder = open.at(-1);
    if (token === "{") open.push({ path, names: new Set(), item: -1 });
    else if (token === "[") {
      open.push({ path, names: new Set(), item: 0 });
      path = `${path}[0]`;
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (holder && holder.item >= 0) path = `${holder.path}[${++holder.item}]`;
    } else if (token !== ":") last = token;
    else if (holder) {
      // Parsed, so that an escaped letter does not make another name.
      const name: string = JSON.parse(last);
      path = holder.path ? `${holder.path}.${name}` : name;
      if (holder.names.has(name)) found.add(path);
      if (found.size === 10) break;
      holder.names.add(name);
    }
  }
  return [...found];
};
